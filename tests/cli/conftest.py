"""A tiny untrained model folder, and the command run inside the process."""

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fixtures.tiny import save_tiny
from unshuffle.cli import main

Run = Callable[..., "Answer"]


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one line of an error; fails where there is none or more."""
        lines = self.err.strip().splitlines()
        assert self.code == 2 and len(lines) == 1, (self.code, self.err)
        return lines[0]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def call(*arguments: object, stdin: bytes | str = b"") -> Answer:
        content = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "argv", ["unshuffle", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with pytest.raises(SystemExit) as left:
            main()
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Answer(int(left.value.code or 0), out.decode(), err.decode())

    return call
