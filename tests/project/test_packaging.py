"""Metadata, pins and commands agree with each other."""

import re
import tomllib
from pathlib import Path

import unshuffle

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = {"dev", "docs"}


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def name(requirement: str) -> str:
    """`ray[data]>=2.40` -> `ray`, spelt as in constraints.txt."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~; ]", requirement)[0]).lower()


def make_variable(wanted: str) -> str:
    found = re.search(rf"^{wanted} := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert found, f"Makefile: no {wanted}"
    return found[1]


def test_the_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert f"## [{PROJECT['version']}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert getattr(unshuffle, "__version__", PROJECT["version"]) == PROJECT["version"]


def test_torch_is_a_range_for_users_and_one_build_for_the_project() -> None:
    (torch,) = (requirement for requirement in EXTRAS["train"] if name(requirement) == "torch")
    assert "==" not in torch
    assert pins()["torch"] == "2.13.0"


def test_the_core_has_no_framework() -> None:
    heavy = {"torch", "spacy", "transformers", "scipy", "pyarrow", "pydantic", "scikit-learn", "onnx"}
    assert not heavy & {name(requirement) for requirement in PROJECT["dependencies"]}


def test_all_means_every_extra_for_users() -> None:
    (everything,) = EXTRAS["all"]
    listed = everything.removeprefix("unshuffle[").removesuffix("]").split(",")
    assert sorted(listed) == sorted(set(EXTRAS) - FOR_DEVELOPERS - {"all"})


def test_what_the_tests_install_is_pinned() -> None:
    extras = make_variable("EXTRAS").split(",")
    extras += make_variable("TEST_EXTRAS").removeprefix("$(EXTRAS),").split(",")
    wanted = [*PROJECT["dependencies"], *(requirement for extra in extras for requirement in EXTRAS[extra])]
    assert sorted({name(requirement) for requirement in wanted} - set(pins())) == []


def test_pins_name_versions_and_nothing_else() -> None:
    odd = {package: pin for package, pin in pins().items() if not re.fullmatch(r"[0-9][0-9a-z.]*", pin)}
    assert odd == {}


def test_make_help_explains_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert re.findall(r"^([a-z-]+):.* ## ", makefile, re.MULTILINE) == phony.split()
