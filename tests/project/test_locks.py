"""Everything that `make` installs is pinned with hashes, and names no place that it came from."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ("core", "run", "test", "spark")
PIN = re.compile(r"([a-z0-9][a-z0-9._-]*)==([^ ;\\]+)")


def pins(name: str) -> dict[str, str]:
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    return dict(PIN.match(line).groups() for line in text.splitlines() if PIN.match(line))  # type: ignore[union-attr, misc]


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_a_hash_and_no_address(name: str) -> None:
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\S)", text.strip())
    assert blocks and all("--hash=sha256:" in block for block in blocks)
    assert not re.search(r"https?:|file:|index-url|find-links|@", text)


def test_the_constraints_are_the_locked_versions_and_torch() -> None:
    locked = {package: version for name in LOCKS for package, version in pins(name).items()}
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert {line for line in lines if not line.startswith("#")} == {
        *(f"{package}=={version}" for package, version in locked.items()),
        "torch==2.13.0",
    }


def test_the_locks_divide_the_packages_among_them() -> None:
    seen = [package for name in LOCKS for package in pins(name)]
    assert len(seen) == len(set(seen))


def test_all_that_extras_and_the_build_ask_for_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["project"]["dependencies"], *project["build-system"]["requires"], "pip", "setuptools"]
    asked += [need for needs in project["project"]["optional-dependencies"].values() for need in needs]
    names = {re.split(r"[<>=!\[ ]", need)[0].lower().replace("_", "-") for need in asked} - {"unshuffle", "torch"}
    assert names <= {package for name in LOCKS for package in pins(name)}


def test_only_torch_and_the_tools_of_lock_and_audit_are_installed_without_hashes() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^LOCKED = .*pip install .*--require-hashes --no-deps$", text, re.MULTILINE)
    assert re.search(r"^OWN = .*pip install .*--no-deps --no-build-isolation -e \. -e research$", text, re.MULTILINE)
    assert set(re.findall(r"^\t@?\$\(PIP_INSTALL\) (.*)$", text, re.MULTILINE)) == {"torch", "uv", "pip-audit"}
    assert not re.search(r"^\t.*pip install", text, re.MULTILINE)


def test_the_audit_looks_at_every_lock() -> None:
    (recipe,) = re.findall(r"^audit:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert "-r constraints.txt" in recipe and f"$(foreach lock,{' '.join(LOCKS)},-r locks/$(lock).txt)" in recipe
    assert {file.stem for file in (ROOT / "locks").glob("*.txt")} == set(LOCKS)
