"""The product as people get it: what its wheel holds, and that it works where the laboratory is not installed."""

import os
import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESEARCH_COMMANDS = ("experiment", "prepare", "recipe", "domains", "held-out", "pack")


def build(source: Path, target: Path) -> Path:
    """The wheel of a source folder; nothing is downloaded."""
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="needs the 'dev' extra")
    (path,) = wheel.WheelBuilder(str(source)).build(directory=str(target), versions=["standard"])
    return Path(path)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("product"))


@pytest.fixture(scope="module")
def site(product: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every installed package, but of this project the product's wheel alone."""
    folder = tmp_path_factory.mktemp("site")
    torch = find_spec("torch")
    assert torch is not None and torch.origin is not None
    for entry in Path(torch.origin).parents[1].iterdir():
        if "unshuffle" not in entry.name and entry.suffix != ".pth":
            (folder / entry.name).symlink_to(entry)
    unpack(product, folder)
    return folder


def unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)


def unshuffle(site: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The command in a Python that sees this folder and the standard library only."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-S", "-m", "unshuffle", *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd=site, capture_output=True, text=True, timeout=300, check=False)


def listed(site: Path) -> set[str]:
    done = unshuffle(site, "--help")
    assert done.returncode == 0, done.stderr
    return set(re.findall(r"^│ ([a-z][a-z-]*) ", done.stdout, re.MULTILINE))


def test_the_wheel_holds_the_product_and_nothing_else(product: Path) -> None:
    with zipfile.ZipFile(product) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"unshuffle"}
    assert not [name for name in names if "research" in name or "/tests/" in name or "__pycache__" in name]
    wanted = {
        "unshuffle/__main__.py",
        "unshuffle/py.typed",
        "unshuffle/configs/systems/irse-grn.toml",
        "unshuffle/data/models/default/model.safetensors",
        "unshuffle/serve/page/index.html",
    }
    assert wanted <= set(names)


def test_the_product_orders_a_file_without_the_laboratory(site: Path) -> None:
    text = ROOT / "examples" / "shuffled.txt"
    done = unshuffle(site, "order", text)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == sorted(text.read_text(encoding="utf-8").split())
    assert done.stdout.split() != text.read_text(encoding="utf-8").split()


def test_commands_of_the_laboratory_are_there_when_it_is_installed(
    site: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    names = listed(site)
    assert "order" in names and not names & set(RESEARCH_COMMANDS)
    done = unshuffle(site, "experiment", "main")
    assert done.returncode == 2 and "needs the laboratory" in done.stderr
    unpack(build(ROOT / "research", tmp_path_factory.mktemp("research")), site)
    assert listed(site) - names == set(RESEARCH_COMMANDS)
    done = unshuffle(site, "experiment", "--help")
    assert done.returncode == 0 and "Run an experiment of the paper" in done.stdout
