"""Commands and parts of other installed packages: found by entry point, imported when needed, harmless when broken."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from unshuffle.encoders.contracts import paragraph_encoders
from unshuffle.errors import ConfigError

SHOUT = '''
import typer

def shout(word: str) -> None:
    """Say a word loudly."""
    typer.echo(word.upper())
'''


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # noqa: ANN201
    """Puts a package with one module and one entry point where Python finds it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(package: str, group: str, point: str, code: str | None) -> None:
        if code is not None:
            (tmp_path / f"{package}.py").write_text(code, encoding="utf-8")
            monkeypatch.delitem(sys.modules, package, raising=False)
        info = tmp_path / f"{package}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[{group}]\n{point}\n", encoding="utf-8")

    return put


def test_a_command_of_another_package_is_listed_and_runs(run: Run, install) -> None:  # noqa: ANN001
    install("loud", "unshuffle.commands", "shout = loud:shout", SHOUT)
    shown = run("--help")
    assert "Say a word loudly." in shown.out and "loud" not in sys.modules
    assert run("shout", "hello").out == "HELLO\n"
    assert "Say a word loudly." in run("shout", "--help").out


def test_a_command_whose_module_is_missing_is_left_out_in_one_line(run: Run, install) -> None:  # noqa: ANN001
    install("gone", "unshuffle.commands", "vanish = gone:vanish", None)
    shown = run("--help")
    assert shown.code == 0 and "vanish" not in shown.out and "order" in shown.out
    (line,) = shown.err.splitlines()
    assert "command 'vanish' of gone is left out" in line and "no module 'gone'" in line


def test_a_command_that_cannot_be_imported_fails_in_one_line(run: Run, install) -> None:  # noqa: ANN001
    install("broken", "unshuffle.commands", "crack = broken:crack", "import not_there_at_all\n\ndef crack(): ...\n")
    assert "command 'crack' of broken cannot be loaded" in run("crack").complaint


def test_the_products_own_command_wins(run: Run, install) -> None:  # noqa: ANN001
    install("rival", "unshuffle.commands", "order = rival:shout", SHOUT)
    shown = run("--help")
    assert "Say a word loudly." not in shown.out
    (line,) = shown.err.splitlines()
    assert line == "unshuffle: command 'order' of rival is left out: unshuffle has a command of that name."
    assert "--keep-if-unsure" in run("order", "--help").out


def test_of_two_other_packages_the_first_by_name_wins(run: Run, install) -> None:  # noqa: ANN001
    install("zebra", "unshuffle.commands", "shout = zebra:shout", SHOUT.replace("upper", "lower"))
    install("ant", "unshuffle.commands", "shout = ant:shout", SHOUT)
    answer = run("shout", "Hello")
    assert answer.out == "HELLO\n"
    assert answer.err == "unshuffle: command 'shout' of zebra is left out: ant has a command of that name.\n"


def test_a_command_imports_no_other_command() -> None:
    code = (
        "import sys; sys.argv = ['unshuffle', 'order', '--help']\n"
        "from unshuffle.cli import main\n"
        "try:\n    main()\nexcept SystemExit as left:\n    assert left.code == 0\n"
        "print('loaded:', *(name for name in sys.modules if name.startswith(('unshuffle.cli.', 'unshuffle_research'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()[1:]
    own = ("commands", "options", "order")
    assert sorted(loaded) == [f"unshuffle.cli.{name}" for name in own]


def test_parts_that_cannot_be_imported_are_a_warning(install, caplog: pytest.LogCaptureFixture) -> None:  # noqa: ANN001
    install("cracked", "unshuffle.parts", "cracked = cracked", "import not_there_at_all\n")
    with pytest.raises(ConfigError, match="paragraph_encoder has no kind 'nowhere'"), caplog.at_level(logging.WARNING):
        paragraph_encoders.read({"kind": "nowhere"})
    (warning,) = caplog.messages
    assert "parts 'cracked' of cracked are left out" in warning and "not_there_at_all" in warning


def test_a_part_cannot_take_the_place_of_another(install, caplog: pytest.LogCaptureFixture) -> None:  # noqa: ANN001
    code = (
        "from unshuffle.encoders.contracts import ParagraphEncoder, paragraph_encoders\n"
        "from unshuffle.parts.registry import PartConfig\n\n"
        "@paragraph_encoders.register('grn', PartConfig)\nclass Mine(ParagraphEncoder): ...\n"
    )
    install("usurper", "unshuffle.parts", "usurper = usurper", code)
    before = paragraph_encoders.read({"kind": "grn"})
    with pytest.raises(ConfigError, match="no kind 'nowhere'"), caplog.at_level(logging.WARNING):
        paragraph_encoders.read({"kind": "nowhere"})
    assert "has a kind 'grn' already" in caplog.text
    assert paragraph_encoders.read({"kind": "grn"}) == before


@pytest.mark.parametrize("kind", ["lurking", "lurking:Part", "lurking.py"])
def test_a_module_without_an_entry_point_is_never_imported(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lurking.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match="no kind 'lurking"):
        paragraph_encoders.read({"kind": kind})
    assert "lurking" not in sys.modules
