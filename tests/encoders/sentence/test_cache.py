"""Vectors of a frozen transformer on disk."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.encoders.made_up import WORDS, collated, corpus, shuffled
from unshuffle.encoders.sentence.transformer import Transformer, TransformerConfig
from unshuffle.errors import ConfigError

ITEMS = corpus(pieces=True)


def frozen(source: str, **options: Any) -> Transformer:
    config = TransformerConfig(source=source, frozen_layers=-1, freeze_embeddings=True, dropout=0.0, **options)
    return Transformer(config, words=WORDS)


def counted(encoder: Transformer, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many sentences the transformer has been asked for, call by call."""
    calls: list[int] = []
    read = encoder.pieces.forward

    def forward(ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        calls.append(len(lengths))
        return read(ids, lengths)

    monkeypatch.setattr(encoder.pieces, "forward", forward)
    return calls


def test_kept_vectors_are_those_that_were_computed(bert: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = frozen(bert)
    plain = encoder(collated(ITEMS))
    assert encoder.keep_vectors(tmp_path)
    calls = counted(encoder, monkeypatch)
    computed, kept = encoder(collated(ITEMS)), encoder(collated(shuffled(ITEMS)[0]))
    assert len(calls) == 1
    before = shuffled(ITEMS)[1]
    assert torch.equal(kept.sentences, computed.sentences[before])
    torch.testing.assert_close(kept.entities, computed.entities)
    torch.testing.assert_close(computed.sentences, plain.sentences, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(computed.entities, plain.entities, rtol=1e-3, atol=1e-3)


def test_only_new_sentences_are_computed(bert: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = frozen(bert)
    encoder.keep_vectors(tmp_path)
    encoder(collated(ITEMS[:2]))
    calls = counted(encoder, monkeypatch)
    together = encoder(collated(ITEMS))
    new = len(collated(ITEMS).tokens.lengths) - len(collated(ITEMS[:2]).tokens.lengths)
    assert calls in ([new], [new + 1])  # the shared sentence may have other mentions in the last document
    fresh = frozen(bert)
    fresh.keep_vectors(tmp_path / "other")
    torch.testing.assert_close(together.sentences, fresh(collated(ITEMS)).sentences, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(together.entities, fresh(collated(ITEMS)).entities, rtol=1e-3, atol=1e-3)


def test_a_transformer_that_is_trained_keeps_nothing(bert: str, tmp_path: Path) -> None:
    encoder = Transformer(TransformerConfig(source=bert, frozen_layers=-1), words=WORDS)
    assert not encoder.keep_vectors(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_other_weights_have_a_file_of_their_own(bert: str, tmp_path: Path) -> None:
    one, other = frozen(bert), frozen(bert)
    for value in other.parameters():
        value.data += 1
    one.keep_vectors(tmp_path)
    other.keep_vectors(tmp_path)
    one(collated(ITEMS))
    other(collated(ITEMS))
    assert len(list(tmp_path.glob("*.sqlite"))) == 2


def test_loaded_weights_have_vectors_of_their_own(bert: str, tmp_path: Path) -> None:
    encoder, other = frozen(bert), frozen(bert)
    for value in other.parameters():
        value.data += 1
    encoder.keep_vectors(tmp_path)
    encoder(collated(ITEMS))
    torch.nn.ModuleList([encoder]).load_state_dict(torch.nn.ModuleList([other]).state_dict())
    close = {"rtol": 1e-3, "atol": 1e-3}
    torch.testing.assert_close(encoder(collated(ITEMS)).sentences, other(collated(ITEMS)).sentences, **close)
    assert len(list(tmp_path.glob("*.sqlite"))) == 2


def test_a_damaged_file_costs_only_time(bert: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    encoder = frozen(bert)
    encoder.keep_vectors(tmp_path)
    expected = encoder(collated(ITEMS))
    (file,) = tmp_path.glob("*.sqlite")
    file.write_bytes(b"no database at all" * 100)
    assert torch.equal(encoder(collated(ITEMS)).sentences, expected.sentences)
    assert "is damaged" in caplog.text


def test_a_folder_that_cannot_be_made_is_named(bert: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="Give another"):
        frozen(bert).keep_vectors(tmp_path / "file" / "folder")
