"""Recipes: what they say, what each pass changes, and that a pass begins where the one before has ended."""

import json
from pathlib import Path

import pytest
import torch

pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")

from tests.fixtures.documents import stories
from tests.fixtures.systems import tiny_config
from unshuffle.errors import ConfigError
from unshuffle.system.folder import load_model
from unshuffle.training.config import TrainingConfig
from unshuffle_research.model.mixture import MixtureConfig, Source, reshared
from unshuffle_research.model.passes import texts_of, train_recipe
from unshuffle_research.model.recipe import Pass, Recipe, load_recipe, recipe_names

TWO = """
system = "se-grn"

[mixture]
documents = 9

[[mixture.sources]]
name = "tales"
train = ["tales.jsonl"]
valid = ["tales.jsonl"]
share = 1

[[passes]]

[[passes]]

[passes.changes.decoder]
attention_width = 7

[passes.training]
learning_rate = 0.01

[passes.mixture]
documents = 5

[passes.shares]
tales = 3
"""


def written(folder: Path, text: str) -> str:
    file = folder / "mine.toml"
    file.write_text(text)
    return str(file)


def test_recipes_of_the_package_are_read_and_an_unknown_one_is_named() -> None:
    for name in recipe_names():
        found = load_recipe(name, ["mixture.documents=7"])
        assert all(each.mixture.documents == 7 and each.mixture.sources for each in found.passes)
    with pytest.raises(ConfigError, match=r"recipe 'defualt': there is no such recipe.*default"):
        load_recipe("defualt")


def test_a_recipe_takes_over_the_system_of_another_and_keeps_its_own_texts() -> None:
    own, default = load_recipe("everyday").last, load_recipe("default").last
    assert own.system == default.system
    assert own.training == default.training
    assert [source.name for source in own.mixture.sources] == ["everyday"]


def test_a_pass_changes_what_stands_before_the_passes_and_nothing_in_the_others(tmp_path: Path) -> None:
    first, second = load_recipe(written(tmp_path, TWO)).passes
    assert (first.mixture.documents, second.mixture.documents) == (9, 5)
    assert (first.mixture.sources[0].share, second.mixture.sources[0].share) == (1, 3)
    assert first.training.learning_rate != second.training.learning_rate == 0.01
    widths = [each.system.write()["decoder"]["attention_width"] for each in (first, second)]
    assert widths[0] != 7 == widths[1]
    assert load_recipe(written(tmp_path, TWO), passes=1).passes == (first,)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (TWO.replace("tales = 3", "tails = 3"), r"there is no source 'tails'.*tales"),
        (TWO.replace("tales = 3", "tales = 0"), r"shares\.tales: 0 is too little"),
        (TWO.replace("[passes.shares]", "[passes.share]"), r"unknown option 'share'.*shares"),
    ],
)
def test_a_mistake_in_a_pass_is_one_line_that_says_where(tmp_path: Path, wrong: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_recipe(written(tmp_path, wrong))


def test_a_pass_begins_with_the_weights_of_the_one_before_and_reads_other_texts(tmp_path: Path) -> None:
    lines = [json.dumps({"id": document.id, "sentences": list(document.sentences)}) for document in stories()]
    (tmp_path / "tales.jsonl").write_text("\n".join(lines) + "\n")
    tales = Source(name="tales", train=("tales.jsonl",), valid=("tales.jsonl",), share=1)
    mixture = MixtureConfig(sources=(tales,), documents=len(lines))
    still = TrainingConfig(optimizer="adamw", learning_rate=1e-12, weight_decay=0.0, epochs=1)
    config = tiny_config("se-grn", tmp_path)
    moving = Pass(config, TrainingConfig(epochs=1), mixture)
    recipe = Recipe("two", (moving, Pass(config, still, reshared(mixture, {"tales": 2}))))
    one, other = texts_of(recipe, tmp_path, seed=1)
    assert set(one) == set(other) and one != other
    train_recipe(recipe, tmp_path, tmp_path / "out")
    first, last = (load_model(str(tmp_path / "out" / part)).network.state_dict() for part in ("pass-1", "."))
    assert all(torch.allclose(first[name], last[name], atol=1e-6) for name in first)
    train_recipe(recipe, tmp_path, tmp_path / "other", seed=9)
    other_last = load_model(str(tmp_path / "other")).network.state_dict()
    assert not all(torch.allclose(other_last[name], last[name], atol=1e-3) for name in last)
