"""Python and console blocks of the README and the pages work as they stand there.

A block that cannot run here has the line `<!-- no-run: why -->` above it. One with a title is a file of a longer story,
which a test of its own follows.
"""

import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from unshuffle.cli import main
from unshuffle.text.parsing.mentions import DEFAULT_PARSER

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"^(?:<!-- no-run: (?P<why>[^\n]+) -->\n)?^```(?P<kind>python|console)(?P<info>[^\n]*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
MOST_SKIPPED = 4
"""Blocks that are not run; one more needs a reason that a reader of this test accepts."""

LIBRARIES = {"integrations.md": ("langchain_core", "haystack")}
"""What the code of a page needs beyond the extras that every test has."""

pytestmark = pytest.mark.skipif(not (DEFAULT_PARSER / "config.cfg").is_file(), reason="needs the shipped parser")


@dataclass(frozen=True)
class Block:
    kind: str
    code: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["kind"], found["code"], text.count("\n", 0, found.start("code")))
        for found in BLOCK.finditer(text)
        if not found["why"] and "title=" not in found["info"]
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("ignore:.*documents were skipped")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.name))
def test_the_code_of_a_page_runs(
    page: Path, folder: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in LIBRARIES.get(page.name, ()):
        pytest.importorskip(library)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.kind == "python":
            # Line numbers of an error are those of the page.
            exec(compile("\n" * block.line + block.code, str(page), "exec"), namespace)
            continue
        for command, shown in commands(block.code):
            capfdbinary.readouterr()
            run(command, monkeypatch)
            answer = capfdbinary.readouterr().out.decode()
            # Another model may find another order; it is of the same lines.
            assert not shown or sorted(answer.splitlines()) == sorted(shown), f"{page.name}: {command}"


def commands(code: str) -> list[tuple[str, list[str]]]:
    """Each command of a console with the lines that it is shown to answer."""
    found: list[tuple[str, list[str]]] = []
    for line in code.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def run(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, *arguments = shlex.split(command, comments=True)
    if program == "cat":
        for name in arguments:
            sys.stdout.buffer.write(Path(name).read_bytes())
        sys.stdout.flush()
        return
    assert program == "unshuffle", f"{command}: mark the block with no-run"
    monkeypatch.setattr("sys.argv", [program, *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code, command


def test_few_blocks_are_left_out_and_each_says_why() -> None:
    found = [match for page in PAGES for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]
    assert len([match for match in found if match["why"]]) <= MOST_SKIPPED
    assert len([match for match in found if not match["why"]]) >= 10
