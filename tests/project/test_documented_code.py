"""Python and console blocks of the README and the pages work as they stand there, and their types are right.

A block that needs more than every test has says so with `<!-- needs: module, program -->` in the line above; it is run
by itself, after the page's other blocks, where that is installed. One with a title is a file of a longer story, which a
test of its own follows.
"""

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from unshuffle.cli import main
from unshuffle.text.parsing.mentions import DEFAULT_PARSER

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"^(?:<!-- needs: (?P<needs>[^\n]+) -->\n)?^```(?P<kind>python|console)(?P<info>[^\n]*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
NEEDS = {"ray.data", "pyspark", "java"}
"""What a page may need; one more needs a reason that a reader of this test accepts."""

pytestmark = pytest.mark.skipif(not (DEFAULT_PARSER / "config.cfg").is_file(), reason="needs the shipped parser")


@dataclass(frozen=True)
class Block:
    kind: str
    code: str
    line: int
    needs: tuple[str, ...] = ()


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            found["kind"],
            found["code"],
            text.count("\n", 0, found.start("code")),
            tuple(found["needs"].split(", ")) if found["needs"] else (),
        )
        for found in BLOCK.finditer(text)
        if "title=" not in found["info"]
    ]


DEMANDING = [(page, block) for page in PAGES for block in blocks(page) if block.needs]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def execute(page: Path, block: Block, namespace: dict[str, object]) -> None:
    """Line numbers of an error are those of the page."""
    exec(compile("\n" * block.line + block.code, str(page), "exec"), namespace)


@pytest.mark.filterwarnings("ignore:.*documents were skipped")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.name))
def test_the_code_of_a_page_runs(
    page: Path, folder: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.needs:
            continue
        if block.kind == "python":
            execute(page, block, namespace)
            continue
        for command, shown in commands(block.code):
            capfdbinary.readouterr()
            run(command, monkeypatch)
            answer = capfdbinary.readouterr().out.decode()
            # Another model may find another order; it is of the same lines.
            assert not shown or sorted(answer.splitlines()) == sorted(shown), f"{page.name}: {command}"


@pytest.mark.parametrize(("page", "block"), DEMANDING, ids=[" ".join(block.needs) for _, block in DEMANDING])
def test_code_that_needs_more_runs_where_that_is_installed(
    page: Path, block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for need in block.needs:
        if not (shutil.which(need) or find_spec(need.split(".")[0])):
            pytest.skip(f"needs {need}")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for other in blocks(page):
        if other.kind == "python" and not other.needs and other.line < block.line:
            execute(page, other, namespace)
    execute(page, block, namespace)
    for name, end in (("spark", "stop"), ("ray", "shutdown")):
        if name in namespace:
            getattr(namespace[name], end)()


def test_the_code_of_all_pages_is_well_typed(tmp_path: Path) -> None:
    """The blocks of a page are one module, as they are when run; bare expressions are there to be looked at."""
    pytest.importorskip("mypy", reason="needs the 'dev' extra")
    for page in PAGES:
        lines: list[str] = []
        for block in blocks(page):
            if block.kind == "python":
                lines += [""] * (block.line - len(lines)) + block.code.splitlines()
        if lines:
            (tmp_path / f"{page.stem.replace('-', '_')}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert len(list(tmp_path.iterdir())) >= 6
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", *tmp_path.iterdir()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


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


def test_every_block_is_run_and_few_need_more_than_every_test_has() -> None:
    found = [block for page in PAGES for block in blocks(page)]
    assert not any("no-run" in page.read_text(encoding="utf-8") for page in PAGES)
    assert {need for block in found for need in block.needs} <= NEEDS
    assert len([block for block in found if not block.needs]) >= 20
