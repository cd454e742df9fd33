"""One training: what it begins with."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")

from tests.fixtures.systems import tiny_config, tiny_model
from tests.training.run_and_die import tiny_job
from unshuffle.encoders.pretrained.pieces import Pieces
from unshuffle.errors import ConfigError
from unshuffle.system.folder import save_model
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


def test_a_training_that_goes_on_with_other_settings_says_that_it_begins_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def go_on(seed: int, **options: Path) -> None:
        train_system(replace(tiny_job(tmp_path, tmp_path / "out", system="se-grn", seed=seed, resume=True), **options))

    go_on(1)
    go_on(1)
    go_on(2, stages=tmp_path / "shared")
    go_on(3, stages=tmp_path / "shared")
    assert not caplog.records
    go_on(2)
    (record,) = caplog.records
    assert "'ordering' was begun with other settings" in record.getMessage()


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
