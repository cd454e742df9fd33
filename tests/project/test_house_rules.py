"""The rules of CONTRIBUTING.md that a machine can check."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "unshuffle"
LABORATORY = ROOT / "research" / "unshuffle_research"
DATA = PACKAGE / "data"

VAGUE_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}
PICKLING_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"}
MACHINE_PATHS = re.compile("|".join(f"/{folder}/" for folder in ("work", "root", "home")))
WRITERS_TRACES = re.compile(
    r"\b(claude|anthropic|copilot|co-authored-by|(this|last|previous) session)\b", re.IGNORECASE
)
PROSE_AND_CODE = {".py", ".md", ".toml", ".cff", ".yml", ".yaml", ".html", ".css", ".js", ".txt", ""}
MOST_LINES = 300
MOST_DATA = 80_000_000
LARGEST_FILE = 20_000_000


@cache
def files() -> list[Path]:
    """Everything that is or would be committed."""
    if not (ROOT / ".git").exists():
        pytest.skip("only a clone knows which files belong to the project")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return sorted(path for name in set(listed.split("\0")) if name and (path := ROOT / name).is_file())


@cache
def text(path: Path) -> str:
    """A file's text, empty if it is binary."""
    content = path.read_bytes()
    return "" if b"\0" in content else content.decode(errors="replace")


def hits(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    """Where a pattern stands, as `file:line: text`."""
    return [
        f"{short(path)}:{number}: {line.strip()[:100]}"
        for path in paths
        if path != Path(__file__) and pattern.search(text(path))
        for number, line in enumerate(text(path).splitlines(), 1)
        if pattern.search(line)
    ]


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def shipped() -> list[Path]:
    return [path for path in sorted(DATA.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]


def offences(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Calls and imports that have no place in the package, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="print")):
                yield node.lineno, "print"
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="load")):
                yield node.lineno, "torch.load"
            case ast.Import(names=names) if any(name.name.split(".")[0] in PICKLING_MODULES for name in names):
                yield node.lineno, "pickle"
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in PICKLING_MODULES:
                yield node.lineno, "pickle"
            case ast.keyword(arg="allow_pickle" | "trust_remote_code", value=ast.Constant(value=True)):
                yield node.value.lineno, str(node.arg)


def test_every_name_says_something() -> None:
    vague = [short(path) for path in files() if VAGUE_NAMES & {Path(part).stem for part in Path(short(path)).parts}]
    assert vague == []


def test_no_source_file_is_longer_than_a_part_should_be() -> None:
    written = [*sources(), *LABORATORY.rglob("*.py")]
    long = {short(path): lines for path in written if (lines := len(text(path).splitlines())) > MOST_LINES}
    assert long == {}


def test_the_package_neither_prints_nor_unpickles() -> None:
    found = [
        f"{short(path)}:{line}: {what}"
        for path in sources()
        for line, what in offences(ast.parse(text(path), filename=str(path)))
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "print(1)",
        "torch.load(path)",
        "import pickle",
        "from pickle import loads",
        "import dill as d",
        "numpy.load(path, allow_pickle=True)",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
    ],
)
def test_the_search_for_offences_finds_them(code: str) -> None:
    assert [line for line, _ in offences(ast.parse(code))] == [1]


def test_the_search_for_offences_lets_the_rest_pass() -> None:
    assert list(offences(ast.parse("console.print(1)\nload_file(path)\nnumpy.load(path, allow_pickle=False)"))) == []


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert hits(MACHINE_PATHS, files()) == []


def test_files_speak_of_the_project_and_not_of_its_making() -> None:
    written = [path for path in files() if path.suffix in PROSE_AND_CODE and DATA not in path.parents]
    assert hits(WRITERS_TRACES, written) == []


def test_what_a_command_makes_is_not_committed() -> None:
    """Such files are named in .gitignore; of the plots, those stay that a page shows."""
    assert files()
    command = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    assert listed.splitlines() == []
    pages = "".join(text(path) for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    plots = [short(path) for path in files() if path.suffix in {".png", ".svg"} and ROOT / "research" in path.parents]
    assert [plot for plot in plots if plot not in pages] == []


def test_every_picture_that_a_page_shows_is_there() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = [(page, link) for page in pages for link in re.findall(r"!\[[^\]]*\]\(([^):]+)\)", text(page))]
    assert shown
    assert [f"{short(page)}: {link}" for page, link in shown if not (page.parent / link).is_file()] == []


def test_shipped_data_names_its_licence() -> None:
    """In its own folder or in one between that and `data/`; a licence for all of `data/` would say too little."""
    bare = [
        short(path)
        for path in shipped()
        if path.suffix != ".py" and not any(licences_in(folder) for folder in folders_within_data(path))
    ]
    assert bare == []


def folders_within_data(path: Path) -> list[Path]:
    return [folder for folder in path.parents if DATA in folder.parents]


@cache
def licences_in(folder: Path) -> list[Path]:
    return list(folder.glob("LICENSE*"))


def test_shipped_data_stays_small() -> None:
    assert sum(path.stat().st_size for path in shipped()) <= MOST_DATA


def test_no_file_is_too_large_for_a_repository() -> None:
    """Weights of shipped models are bounded by what all shipped data may take."""
    others = (path for path in files() if DATA / "models" not in path.parents)
    assert [short(path) for path in others if path.stat().st_size > LARGEST_FILE] == []
