"""One training: what it begins with."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")

from tests.fixtures.systems import tiny_config, tiny_model
from tests.training.run_and_die import TRAINING, tiny_job
from unshuffle.encoders.pretrained.pieces import Pieces
from unshuffle.errors import ConfigError, DataError
from unshuffle.system.folder import load_model, save_model
from unshuffle.text.document import Document
from unshuffle.training.ordering import OrderingTask
from unshuffle.training.run import take_over, train_system


def test_weights_that_fit_are_taken_over_and_others_keep_their_beginning(tmp_path: Path) -> None:
    source = tiny_model("se-grn", tmp_path, seed=1)
    save_model(source, tmp_path / "model")
    model = tiny_model("se-grn", tmp_path, seed=2, changes=["decoder.attention_width=5"])
    before = {name: value.clone() for name, value in model.network.state_dict().items()}
    take_over(model, str(tmp_path / "model"))
    known = source.network.state_dict()
    kinds = set()
    for name, value in model.network.state_dict().items():
        fits = known[name].shape == value.shape
        kinds.add(fits)
        assert torch.equal(value, known[name] if fits else before[name]), name
    assert kinds == {True, False}


def test_a_model_with_other_words_or_another_network_is_refused(tmp_path: Path) -> None:
    save_model(tiny_model("se-grn", tmp_path, changes=["tokens.minimum_count=40"]), tmp_path / "words")
    save_model(tiny_model("pairwise", tmp_path), tmp_path / "network")
    for name in ("words", "network"):
        with pytest.raises(ConfigError, match="do not fit"):
            take_over(tiny_model("se-grn", tmp_path), str(tmp_path / name))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 2}, r"seed \(1 before, 2 now\)"),
        ({"training": replace(TRAINING, batch=2)}, r"training\.batch \(4 before, 2 now\)"),
        ({"training": replace(TRAINING, learning_rate=0.5, epochs=4)}, r"training\.epochs .*, training\.learning_rate"),
        ({"precision": "bf16"}, "precision"),
        ({"data": "other"}, "data"),
        ({"config": "other"}, r"system\.decoder\.attention_width"),
        ({"stages": "shared", "seed": 3}, "seed"),
    ],
)
def test_a_training_does_not_go_on_with_other_settings_and_says_which(
    tmp_path: Path, begun: Path, change: dict[str, Any], named: str
) -> None:
    job = tiny_job(begun, begun / "out", system="se-grn", resume=True)
    if "data" in change:
        change = {"data": replace(job.data, train=job.data.train[1:])}
    elif "config" in change:
        change = {"config": tiny_config("se-grn", begun, ["decoder.attention_width=5"])}
    elif "stages" in change:
        change = change | {"stages": tmp_path / "shared"}
    before = (begun / "out" / "model.safetensors").read_bytes()
    with pytest.raises(ConfigError, match=rf"begun with other settings: .*{named}"):
        train_system(replace(job, **change))
    assert (begun / "out" / "model.safetensors").read_bytes() == before


def test_limits_of_time_may_change_when_a_training_goes_on(begun: Path) -> None:
    job = tiny_job(begun, begun / "out", system="se-grn", resume=True)
    before = (begun / "out" / "model.safetensors").read_bytes()
    train_system(replace(job, training=replace(TRAINING, minutes=5.0, checkpoint_minutes=1.0)))
    assert (begun / "out" / "model.safetensors").read_bytes() == before


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a training in `out`."""
    folder = tmp_path_factory.mktemp("begun")
    train_system(tiny_job(folder, folder / "out", system="se-grn"))
    return folder


def single(count: int) -> tuple[Document, ...]:
    return tuple(Document.from_sentences([f"Only sentence {number}."]) for number in range(count))


@pytest.mark.parametrize(
    ("split", "documents"),
    [(split, single(count)) for split in ("train", "valid") for count in (0, 1, 9)],
)
def test_documents_without_an_order_are_refused_before_anything_is_written(
    tmp_path: Path, split: str, documents: tuple[Document, ...]
) -> None:
    job = tiny_job(tmp_path, tmp_path / "out", system="se-grn")
    with pytest.raises(DataError, match=rf"{split}.*: none of its {len(documents)} documents has two sentences"):
        train_system(replace(job, data=replace(job.data, **{split: documents})))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e7])
@pytest.mark.parametrize("at", [1, 5])
def test_a_loss_that_is_of_no_use_is_one_line_and_leaves_the_old_model(
    tmp_path: Path, begun: Path, monkeypatch: pytest.MonkeyPatch, value: float, at: int
) -> None:
    calls = [0]
    forward = OrderingTask.forward

    def diverging(self: OrderingTask, *given: Any) -> torch.Tensor:
        calls[0] += 1
        return forward(self, *given) * 0 + value if calls[0] >= at else forward(self, *given)

    monkeypatch.setattr(OrderingTask, "forward", diverging)
    out = Path(shutil.copytree(begun / "out", tmp_path / "out"))
    shutil.rmtree(out / "stages")
    before = (out / "model.safetensors").read_bytes()
    with pytest.raises(ConfigError, match=r"ordering: the loss is .* at step \d+ of epoch \d+\. Lower"):
        train_system(tiny_job(begun, out, system="se-grn"))
    assert (out / "model.safetensors").read_bytes() == before and load_model(str(out)).name == "se-grn"


def test_weights_that_become_no_numbers_are_noticed_before_they_are_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = replace(TRAINING, optimizer="adam", learning_rate=1e38, batch=99)
    job = replace(tiny_job(tmp_path, tmp_path / "out", system="se-grn"), training=training)
    with pytest.raises(ConfigError, match=r"Lower training\.learning_rate"):
        train_system(job)
    assert not (tmp_path / "out" / "config.json").exists()


def test_a_frozen_encoder_reads_each_sentence_once_in_all_epochs_and_trainings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers", reason="needs the 'bert' extra")
    frozen = ["sentence_encoder.frozen_layers=-1", "sentence_encoder.freeze_embeddings=true"]
    job = replace(
        tiny_job(tmp_path, tmp_path / "one", system="ranktxnet"),
        config=tiny_config("ranktxnet", tmp_path, frozen),
        cache=tmp_path / "cache",
    )
    read: list[int] = []
    forward = Pieces.forward

    def counted(self: Pieces, ids: torch.Tensor, lengths: torch.Tensor, segments: None = None) -> torch.Tensor:
        read.append(len(lengths))
        return forward(self, ids, lengths, segments)

    monkeypatch.setattr(Pieces, "forward", counted)
    first = train_system(job)
    documents = [*job.data.train, *job.data.valid]
    assert sum(read) == len({sentence for document in documents for sentence in document.sentences})
    read.clear()
    second = train_system(replace(job, out=tmp_path / "two"))
    assert not read
    for name, value in first.model.network.state_dict().items():
        assert torch.equal(value, second.model.network.state_dict()[name]), name
    first.order(["a b c", "d e f"])
    assert read  # what is not trained is asked anew, as by a model from a folder
