"""The table of systems and its files."""

import tomllib
from pathlib import Path

import pytest

from tests.fixtures.systems import shared_model
from unshuffle.errors import ConfigError
from unshuffle.parts.registry import validated
from unshuffle.system.config import SystemConfig
from unshuffle.system.rows import CONFIGS, apply_changes, load_row, merged, system_names
from unshuffle.training.config import TrainingConfig


@pytest.mark.parametrize("name", system_names())
def test_every_row_is_read_written_and_built(name: str) -> None:
    row = load_row(name)
    assert row.name == name and row.about.title and row.about.paper and row.about.year > 1990
    assert SystemConfig.read(row.system.write()) == row.system
    validated("training", TrainingConfig, row.training)
    assert sum(parameter.numel() for parameter in shared_model(name).network.parameters()) > 0


@pytest.mark.parametrize("file", sorted(CONFIGS.rglob("*.toml")), ids=lambda file: file.relative_to(CONFIGS).as_posix())
def test_every_shipped_file_says_what_it_means(file: Path) -> None:
    options = tomllib.loads(file.read_text(encoding="utf-8"))
    assert options
    kind = file.relative_to(CONFIGS).parts[0]
    if kind == "systems":
        assert file.stem in system_names()
    elif kind == "bases":
        row = load_row(f"bases/{file.stem}")
        validated("training", TrainingConfig, row.training)
    else:  # an experiment or recipe: each system that it names must be there
        for name in _named_systems(options):
            load_row(name)


def _named_systems(options: object) -> list[str]:
    if isinstance(options, list):
        return [name for entry in options for name in _named_systems(entry)]
    if not isinstance(options, dict):
        return []
    found = [name for value in options.values() for name in _named_systems(value)]
    for key in ("system", "systems"):
        value = options.get(key)
        found += [value] if isinstance(value, str) else [name for name in value or () if isinstance(name, str)]
    return found


def test_a_row_says_only_how_it_differs() -> None:
    plain, related, full = (load_row(name) for name in ("se-grn", "se-grn-relations", "irse-grn"))
    assert plain.system.sentence_encoder == related.system.sentence_encoder == full.system.sentence_encoder
    assert plain.training == related.training == full.training
    assert (plain.system.graph.relations, related.system.graph.relations) == ("none", "vectors")
    assert plain.system.refiner is None and full.system.refiner is not None


def test_changes_are_read_as_toml_or_taken_as_text() -> None:
    row = load_row(
        "irse-grn", ["paragraph_encoder.steps=2", "refiner.grn.steps = 1", "parser=none", "training.batch=4"]
    )
    assert row.system.paragraph_encoder.steps == 2
    assert row.system.refiner is not None and row.system.refiner.grn.steps == 1
    assert row.system.parser == "none" and row.training["batch"] == 4
    assert apply_changes({}, ["a.b=[1, 2]", "a.c=x y", 'a.d="1"']) == {"a": {"b": [1, 2], "c": "x y", "d": "1"}}


def test_another_kind_replaces_a_part_whole() -> None:
    assert merged({"part": {"kind": "a", "size": 1}}, {"part": {"size": 2}}) == {"part": {"kind": "a", "size": 2}}
    assert merged({"part": {"kind": "a", "size": 1}}, {"part": {"kind": "b"}}) == {"part": {"kind": "b"}}


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("ires-grn", [], "system 'ires-grn': there is no such system. Did you mean 'irse-grn'?"),
        ("se-grn", ["steps"], "--set steps: expected table.option=value."),
        (
            "se-grn",
            ["paragraph_encoder.stepz=2"],
            "paragraph_encoder.stepz: there is no such option. Did you mean 'steps'?",
        ),
        ("se-grn", ["paragrap_encoder.steps=2"], "paragrap_encoder: there is no such part of a system. Did you mean"),
        ("se-grn", ["decoder.kind=pointr"], "decoder has no kind 'pointr'. Did you mean 'pointer'?"),
        ("se-grn", ["graph.entities.minimum=2"], "graph.entities.minimum: there is no such option."),
        ("se-grn", ["parser=7"], "parser: expected a name, found 7."),
        ("se-grn", ["graph=3"], "graph: expected a table of options, found 3."),
        ("se-grn", ["training=3"], "training: expected a table of options, found 3."),
        ("se-grn", ["about.titel=x"], "about.titel: there is no such option. Did you mean 'title'?"),
    ],
)
def test_a_wrong_row_or_change_is_one_line(name: str, changes: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        row = load_row(name, changes)
        validated("training", TrainingConfig, row.training)
    assert str(error.value).startswith(message) and "\n" not in str(error.value)


def test_a_users_file_extends_a_row(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('extends = "se-grn"\n[paragraph_encoder]\nsteps = 1\n', encoding="utf-8")
    row = load_row(str(file))
    assert row.name == "mine" and row.system.paragraph_encoder.steps == 1


@pytest.mark.parametrize(
    "text", ["extends = ", 'extends = "nothing"', "sentence_encoder = 1", 'extends = "{file}"', "\udcff"]
)
def test_a_users_broken_file_is_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(text.replace("{file}", str(file)).encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError) as error:
        load_row(str(file))
    assert "\n" not in str(error.value)


def test_options_are_known_by_the_names_they_once_had() -> None:
    options = load_row("irse-grn").system.write()
    options["refiner"]["lessons"] = "predictions"
    del options["refiner"]["learns_from"]
    config = SystemConfig.read(options)
    assert config.refiner is not None and config.refiner.learns_from == "predictions"
    assert config.with_former_names() == options
    assert SystemConfig.read(config.write()) == config
