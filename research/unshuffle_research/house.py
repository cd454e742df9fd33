"""Measure how large the product is to a reader: `python -m unshuffle_research.house [--list] [--out FILE]` writes JSON.

- tracked files: what git holds.
- product modules: Python files below src/unshuffle.
- entered: by a cold `unshuffle order FILE` with the shipped model, by `unshuffle train --results` of a tiny IRSE-GRN,
  and by one `POST /v1/order` to a service that has started (its start does not count). A function is entered when
  Python calls it, in any thread; module and class bodies do not count. Functions of one file and one name (two
  `__init__`, all lambdas) count once. A file is entered when one of its functions is.
- class names twice: names of top-level classes that more than one place in src/unshuffle defines.
- isinstance of parts: `isinstance` checks and class patterns against classes of the rooms that hold interchangeable
  parts (graph, encoders, refine, decode), in the rooms that should know none (system, training and all above them).
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import unshuffle
from unshuffle_research import ROOT

PRODUCT = Path(unshuffle.__file__).parent
GENERIC = {"system", "training", "evaluation", "export", "serve", "bulk", "cli", "integrations", "exercises", "drawing"}
PARTS = {"graph", "encoders", "refine", "decode"}
STORY = ("Then she ate the apple.", "Mia picked an apple.", "She washed the apple.", "The apple tasted sweet.")
TINY = (
    "sentence_encoder.width=16",
    "paragraph_encoder.entity_width=16",
    "paragraph_encoder.steps=1",
    "refiner.grn.entity_width=16",
    "refiner.grn.steps=1",
    "tokens.minimum_count=1",
    "graph.entities.minimum_count=0",
    "training.epochs=1",
)


class Entered:
    """The functions of the product that are called, as (file, name)."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()

    def note(self, frame: FrameType, event: str, argument: Any) -> None:
        """Called by Python for every event of every thread."""
        code = frame.f_code
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(str(PRODUCT)):
            self.functions.add((code.co_filename, code.co_name))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Counts what is called in here, by threads that are started in here too."""
        threading.setprofile(self.note)
        sys.setprofile(self.note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def by_file(self) -> dict[str, list[str]]:
        """The files, relative to the product, with the functions that were called in each."""
        files: dict[str, list[str]] = defaultdict(list)
        for file, function in sorted(self.functions):
            files[Path(file).relative_to(PRODUCT).as_posix()].append(function)
        return dict(files)


def command(entered: Entered, *arguments: str) -> None:
    """A call of `unshuffle`."""
    with entered.watching():
        from unshuffle.cli import app

        app(list(arguments), standalone_mode=False)


def order(entered: Entered, folder: Path) -> None:
    """`unshuffle order FILE`."""
    (folder / "story.txt").write_text(" ".join(STORY) + "\n", encoding="utf-8")
    command(entered, "order", str(folder / "story.txt"))


def train(entered: Entered, folder: Path) -> None:
    """`unshuffle train` with a corpus of a few stories."""
    for split in ("train", "valid", "test"):
        rows = (json.dumps({"id": f"{split}-{number}", "sentences": STORY}) for number in range(6))
        (folder / f"{split}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    changes = [f"--set={change}" for change in TINY]
    folders = [f"--data={folder}", f"--out={folder / 'model'}", f"--results={folder / 'results'}"]
    command(entered, "train", "--system=irse-grn", *folders, *changes)


def post(entered: Entered, folder: Path) -> None:
    """One `POST /v1/order`."""
    from fastapi.testclient import TestClient

    from unshuffle.serve.app import make_app
    from unshuffle.system.orderer import Orderer

    app = make_app(Orderer.from_pretrained("default"))
    with entered.watching(), TestClient(app, base_url="http://localhost") as client:
        client.get("/healthz")
        entered.functions.clear()
        answer = client.post("/v1/order", json={"sentences": STORY})
        functions = set(entered.functions)
    entered.functions = functions
    answer.raise_for_status()


TRACED = {"order": order, "train": train, "post": post}


def entered_by(name: str) -> dict[str, list[str]]:
    """The files and functions that one of them enters, in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "unshuffle_research.house", "--entered", name, folder]
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr.strip()}")
        files: dict[str, list[str]] = json.loads((Path(folder) / "entered.json").read_text(encoding="utf-8"))
    return files


def trees() -> Iterator[tuple[Path, ast.Module]]:
    """Every module of the product, parsed."""
    for path in sorted(PRODUCT.rglob("*.py")):
        yield path.relative_to(PRODUCT), ast.parse(path.read_text(encoding="utf-8"))


def classes_twice() -> dict[str, list[str]]:
    """Class names with the files that define them, where there are several."""
    found: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.as_posix())
    return {name: files for name, files in sorted(found.items()) if len(files) > 1}


def checks_of_parts() -> dict[str, int]:
    """Files of generic code that ask which part they hold, and how often."""
    found: Counter[str] = Counter()
    for path, tree in trees():
        if path.parts[0] in GENERIC:
            parts = imported_parts(tree)
            asked = [named for node in ast.walk(tree) if (named := asked_classes(node)) & parts]
            found.update({path.as_posix(): len(asked)} if asked else {})
    return dict(found)


def imported_parts(tree: ast.Module) -> set[str]:
    """Names that a module imports from the rooms of the parts; their contracts are no parts."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and not node.module.endswith("contracts")
        for alias in node.names
        if [*node.module.split("."), ""][1] in PARTS
    }


def asked_classes(node: ast.AST) -> set[str]:
    """The names in the second argument of an `isinstance`, or in a class pattern."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, classes]):
            pass
        case ast.MatchClass(cls=classes):
            pass
        case _:
            return set()
    return {name.id for name in ast.walk(classes) if isinstance(name, ast.Name)}


def counted(name: str, list_files: bool) -> dict[str, Any]:
    """How many files and functions one of them enters, and which on request."""
    files = entered_by(name)
    counts = {"files": len(files), "functions": sum(map(len, files.values()))}
    return counts | ({"entered": files} if list_files else {})


def measured(list_files: bool) -> dict[str, Any]:
    """All figures."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    twice, checks = classes_twice(), checks_of_parts()
    return {
        "tracked_files": len(tracked.splitlines()),
        "product_modules": sum(1 for _ in trees()),
        "entered": {name: counted(name, list_files) for name in TRACED},
        "class_names_twice": {"count": len(twice), "names": twice},
        "isinstance_of_parts": {"count": sum(checks.values()), "files": checks},
    }


def main() -> None:
    """Measures, prints the figures and writes them."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, help="JSON file to write")
    options.add_argument("--list", action="store_true", help="name the files and functions entered")
    options.add_argument("--entered", nargs=2, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.entered:
        name, folder = given.entered
        entered = Entered()
        TRACED[name](entered, Path(folder))
        (Path(folder) / "entered.json").write_text(json.dumps(entered.by_file()), encoding="utf-8")
        return
    text = json.dumps(measured(given.list), indent=2) + "\n"
    print(text, end="")
    if given.out:
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
