"""A parser's name means the installed package of that name: look-alikes are not found, and no package's code is run."""

import sys
from pathlib import Path

import pytest

from unshuffle.errors import ConfigError
from unshuffle.text.parsing.mentions import DEFAULT_PARSER, load_parser

EVIL = "raise SystemExit('code of a look-alike was run')\n"
NAMES = ["en_core_web_sm", "en_core_web_md", "en_core_web_lg", "xx_ent_wiki_sm"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which packages are imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(site: Path, distribution: str, *, declares: str = "", files: tuple[str, ...] = ()) -> None:
    """The records that pip writes for a package."""
    info = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    if declares:
        (info / "entry_points.txt").write_text(f"[spacy_models]\n{declares} = {declares}\n")


def hold_pipeline(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(DEFAULT_PARSER)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("look_alike", ["module", "package", "declared", "declared with module", "other name"])
def test_a_look_alike_is_not_found_and_its_code_not_run(site: Path, name: str, look_alike: str) -> None:
    if look_alike == "module":
        (site / f"{name}.py").write_text(EVIL)
    elif look_alike != "declared":
        hold_pipeline(site / name / f"{name}-1.0")
        (site / name / "__init__.py").write_text(EVIL)
    if look_alike.startswith("declared"):
        install(site, "someone-elses-package", declares=name, files=(f"{name}/{name}-1.0/config.cfg",))
    if look_alike == "other name":
        install(site, f"{name}-x", declares=name, files=(f"{name}/{name}-1.0/config.cfg",))
    with pytest.raises(ConfigError, match=f"parser '{name}': this spaCy model is not installed"):
        load_parser(name)
    assert name not in sys.modules


def test_the_installed_package_of_that_name_is_found_without_running_its_code(site: Path) -> None:
    name = "xx_ent_wiki_sm"
    hold_pipeline(site / name / f"{name}-1.0")
    (site / name / "__init__.py").write_text(EVIL)
    install(site, "xx-ent-wiki-sm", declares=name, files=(f"{name}/__init__.py", f"{name}/{name}-1.0/config.cfg"))
    assert load_parser(name).name == name
    assert name not in sys.modules


@pytest.mark.parametrize("name", ["numpy", "torch", "os", "antigravity", "unshuffle", "pip"])
def test_other_packages_are_no_parsers(name: str) -> None:
    with pytest.raises(ConfigError, match="parser"):
        load_parser(name)


@pytest.mark.parametrize(
    "name", ["../x", "/etc", "a.b", "a-b", "a/b", "", " ", "a\nb", "a" * 200, "_x", "1x", "x;y", "x y", "\0", "é"]
)
def test_names_that_are_none_are_one_line(name: str) -> None:
    with pytest.raises(ConfigError, match="no model name") as refused:
        load_parser(name)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
