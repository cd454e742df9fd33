"""A model is a folder."""

import errno
import itertools
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.fixtures.documents import NOUNS, random_documents
from tests.fixtures.systems import shared_model, tiny_config, tiny_model
from unshuffle.errors import ConfigError, UnshuffleError
from unshuffle.storage import files
from unshuffle.storage.files import Storage, read_tensors, write_tensors
from unshuffle.system.folder import Model, load_model, save_model
from unshuffle.system.loading import find_folder
from unshuffle.system.orderer import Orderer
from unshuffle.system.rows import system_names
from unshuffle.training.run import new_model

DOCUMENTS = random_documents(12, sentences=(1, 7), seed=11)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tiny_model("irse-grn", tmp_path, DOCUMENTS), tmp_path / "model")
    return tmp_path / "model"


def orders(model: Model) -> list[tuple[int, ...]]:
    return [ordering.order for ordering in Orderer(model).order_many(DOCUMENTS)]


def edited(folder: Path, change: Callable[[dict[str, object]], None]) -> None:
    description = json.loads((folder / "config.json").read_text())
    change(description)
    (folder / "config.json").write_text(json.dumps(description))


def refused(folder: Path | str, *words: str) -> str:
    with pytest.raises(ConfigError) as error:
        Orderer.from_pretrained(folder)
    message = str(error.value)
    assert "\n" not in message and all(word in message for word in words), message
    return message


@pytest.mark.parametrize("kind", ["vectors", "file"])
def test_a_folder_carries_what_says_which_words_are_related(kind: str, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{one}\t{other}\t0.75\n" for one, other in itertools.pairwise(NOUNS)))
    changes = [f"graph.relations={kind}", *([f"graph.relation_file={pairs}"] if kind == "file" else [])]
    model = tiny_model("se-grn-relations", tmp_path, DOCUMENTS, changes=changes)
    graphs = [model.preparer.item(document).graph for document in DOCUMENTS]
    assert any(graph.relations.size for graph in graphs)
    first, second = tmp_path / "first", tmp_path / "second"
    save_model(model, first)
    pairs.unlink()
    (tmp_path / "vectors.txt").unlink()
    assert str(tmp_path) not in (first / "config.json").read_text()
    save_model(load_model(str(first)), second)
    shutil.rmtree(first)
    loaded = load_model(str(second))
    for document, graph in zip(DOCUMENTS, graphs, strict=True):
        again = loaded.preparer.item(document).graph
        np.testing.assert_array_equal(again.relations, graph.relations)
        np.testing.assert_array_equal(again.similarity, graph.similarity)
    assert orders(loaded) == orders(model)
    (name,) = (second / name for name in ("relations.npy", "relations.tsv") if (second / name).is_file())
    name.write_bytes(name.read_bytes() + b"\n")
    refused(second, name.name)


@pytest.mark.parametrize("name", system_names())
def test_every_system_is_saved_loaded_and_orders_alike(name: str, tmp_path: Path) -> None:
    model = shared_model(name)
    save_model(model, tmp_path / "model")
    written = json.loads((tmp_path / "model" / "config.json").read_text())["system"]
    for slot in ("sentence_encoder", "decoder"):
        assert not written[slot].get("source")  # the folder needs no other
    loaded = load_model(str(tmp_path / "model"))
    assert loaded.name == name and not loaded.network.training
    expected = model.network.state_dict()
    assert expected.keys() == loaded.network.state_dict().keys()
    assert all(torch.equal(value, expected[key]) for key, value in loaded.network.state_dict().items())
    assert orders(loaded) == orders(model)


@pytest.mark.parametrize("storage", ["float16", "int8"])
@pytest.mark.parametrize("name", ["se-grn", "irse-grn"])
def test_fewer_bits_order_alike(name: str, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unshuffle.storage.files.LARGE", 256)  # matrices are tiny here
    model = tiny_model(name, tmp_path, DOCUMENTS)
    save_model(model, tmp_path / "whole")
    save_model(model, tmp_path / "small", storage=storage)
    small, whole = ((tmp_path / kind / "model.safetensors").stat().st_size for kind in ("small", "whole"))
    assert small < 0.8 * whole
    loaded = load_model(str(tmp_path / "small"))
    assert all(value.dtype == torch.float32 for value in loaded.network.parameters())
    same = [one == other for one, other in zip(orders(loaded), orders(model), strict=True)]
    assert sum(same) >= (0.9 if storage == "float16" else 0.5) * len(same)  # rounding may turn near ties


def test_a_folder_holds_text_and_tensors_only(folder: Path) -> None:
    names = sorted(path.name for path in folder.iterdir())
    hashed = {"model.safetensors", "tokenizer.json", "relations.npy", "relations.words.txt"}
    assert names == sorted(["README.md", "config.json", *hashed])
    description = json.loads((folder / "config.json").read_text())
    assert description["parser"] == {"name": "none", "fingerprint": "none"}
    assert description["format"] == 1 and set(description["sha256"]) == hashed


def test_counted_entities_come_with_the_folder(tmp_path: Path) -> None:
    config = tiny_config("se-grn", tmp_path, ["graph.entities.minimum_count=6"])
    model = new_model("counted", config, DOCUMENTS, 1)
    model.network.eval()
    save_model(model, tmp_path / "model")
    loaded = load_model(str(tmp_path / "model"))
    assert loaded.preparer.entities == model.preparer.entities
    assert model.preparer.entities is not None and model.preparer.entities.words
    assert orders(loaded) == orders(model)
    (tmp_path / "model" / "entities.txt").unlink()
    refused(tmp_path / "model", "entities.txt")


def test_saving_over_another_model_leaves_nothing_of_it(tmp_path: Path) -> None:
    counted = tiny_config("se-grn", tmp_path, ["graph.entities.minimum_count=6"])
    save_model(new_model("counted", counted, DOCUMENTS, 1), tmp_path / "model")
    model = tiny_model("se-grn", tmp_path, DOCUMENTS)
    save_model(model, tmp_path / "model")
    assert orders(load_model(str(tmp_path / "model"))) == orders(model)


def test_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    refused(tmp_path / "nowhere", "there is no such model folder")
    refused("no-such-model", "there is no such model folder")
    refused(tmp_path, "config.json", "missing")
    (tmp_path / "file").write_text("x")
    refused(tmp_path / "file", "there is no such model folder")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("keep", [0, 0.5, 0.99, None], ids=["empty", "half", "nearly whole", "missing"])
def test_a_missing_or_truncated_file_is_one_line(folder: Path, name: str, keep: float | None) -> None:
    file = folder / name
    if keep is None:
        file.unlink()
    else:
        content = file.read_bytes()
        file.write_bytes(content[: int(keep * len(content))])
    refused(folder, name)


def test_a_missing_card_is_no_error(folder: Path) -> None:
    (folder / "README.md").unlink()
    assert Orderer.from_pretrained(folder).order(["a", "b"]).order in {(0, 1), (1, 0)}


def test_a_foreign_folder_is_one_line(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "bert", "hidden_size": 768}')
    refused(folder, "config.json", "not a model of this program")
    (folder / "config.json").write_text("[1, 2]")
    refused(folder, "config.json", "not a model of this program")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_flipped_byte_is_noticed_or_harmless(folder: Path, name: str) -> None:
    """In the weights and words always noticed; in config.json it may fall on a name or a number that still works."""
    whole = (folder / name).read_bytes()
    draw = random.Random(0)
    for place in [0, 8, 9, len(whole) - 1, *(draw.randrange(len(whole)) for _ in range(12))]:
        broken = bytearray(whole)
        broken[place] ^= 1 << draw.randrange(8)
        (folder / name).write_bytes(bytes(broken))
        try:
            Orderer.from_pretrained(folder).order(["one", "two"])
        except UnshuffleError as error:
            assert "\n" not in str(error)
        else:
            assert name == "config.json"


def test_a_wrong_shape_or_name_is_one_line(folder: Path) -> None:
    edited(folder, lambda description: description.pop("sha256"))  # as written by other programs
    tensors = read_tensors(folder / "model.safetensors")
    name = "decoder.key.weight"
    write_tensors(folder / "model.safetensors", tensors | {name: tensors[name][:, 1:]})
    refused(folder, f"'{name}' has shape (16, 31), not (16, 32)")
    write_tensors(folder / "model.safetensors", {key: value for key, value in tensors.items() if key != name})
    refused(folder, f"'{name}' is missing")
    write_tensors(folder / "model.safetensors", tensors | {"extra": torch.zeros(1)})
    refused(folder, "'extra' belongs to another system")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("paragraph_encoder.stepz", 2, "paragraph_encoder.stepz: there is no such option. Did you mean 'steps'?"),
        ("refiner.grn.stepz", 2, "refiner.grn.stepz: there is no such option. Did you mean 'steps'?"),
        ("graph.entities.minimum_counts", 2, "Did you mean 'minimum_count'?"),
        ("decodr", {"kind": "pointer"}, "decodr: there is no such part of a system. Did you mean 'decoder'?"),
        ("decoder.kind", "pickle", "decoder has no kind 'pickle'."),
        ("sentence_encoder", "os.system", "sentence_encoder: expected a table of options"),
        ("paragraph_encoder.steps", 0, "paragraph_encoder.steps"),
        ("tokens.vectors", "/nowhere/vectors.txt", "there is no such file of vectors"),
    ],
)
def test_a_wrong_option_is_one_line(folder: Path, path: str, value: object, words: str) -> None:
    def change(description: dict[str, object]) -> None:
        table: dict[str, object] = description["system"]  # type: ignore[assignment]
        *tables, name = path.split(".")
        for key in tables:
            table = table[key]  # type: ignore[assignment]
        table[name] = value

    edited(folder, change)
    refused(folder, words)


@pytest.mark.parametrize("part", ["parser", "sha256", "system"])
def test_a_part_that_is_no_table_is_one_line(folder: Path, part: str) -> None:
    edited(folder, lambda description: description.update({part: ["x"]}))
    refused(folder, f"'{part}' is not a table")


@pytest.mark.parametrize("parser", ["my_parser", "../../evil", "os"])
def test_a_parser_outside_the_list_has_to_be_named_by_the_user(folder: Path, parser: str) -> None:
    def change(description: dict[str, object]) -> None:
        description["system"]["parser"] = parser  # type: ignore[index]

    edited(folder, change)
    refused(folder, f"the model asks for the parser '{parser}'. If you trust it, say --parser {parser}.")
    assert Orderer.from_pretrained(folder, parser="none").order(["a", "b", "c"]).order


def test_a_full_disk_while_saving_is_one_line_and_mixes_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    other = tiny_model("irse-grn", tmp_path, DOCUMENTS, seed=9)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(ConfigError, match="No space left on device") as error:
        save_model(other, folder)
    assert "\n" not in str(error.value)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    monkeypatch.undo()
    # Full after the first file: weights of one model and config of another are no model.
    calls = []

    def full_later(handle: int) -> None:
        calls.append(handle)
        if len(calls) > 1:
            full(handle)

    monkeypatch.setattr(files.os, "fsync", full_later)
    with pytest.raises(ConfigError, match="No space left on device"):
        save_model(other, folder)
    monkeypatch.undo()
    refused(folder, "model.safetensors", "not as it was written")


def test_shipped_models_are_found_by_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unshuffle.system.loading.MODELS", tmp_path)
    (tmp_path / "default").mkdir()
    (tmp_path / "default" / "config.json").write_text("{}")
    assert find_folder("default") == tmp_path / "default"
    with pytest.raises(ConfigError, match="Shipped models: default"):
        find_folder("../default")
