"""Our BERT computes what the library's does."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from unshuffle.encoders.pretrained.loading import PretrainedConfig, load
from unshuffle.encoders.pretrained.pieces import Pieces
from unshuffle.errors import ConfigError

SIZES = {
    "vocab_size": 60,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "max_position_embeddings": 40,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(3)
    transformers.BertModel(transformers.BertConfig(**SIZES)).save_pretrained(tmp_path)
    return tmp_path


@pytest.mark.parametrize("training", [False, True])
def test_flat_bert_equals_the_librarys_on_padded_text(folder: Path, training: bool) -> None:
    transformers = pytest.importorskip("transformers")
    pieces = Pieces(PretrainedConfig(source=str(folder), inner_dropout=0.0), words=60).train(training)
    lengths = torch.tensor([5, 1, 9, 5, 30])
    ids = torch.randint(1, 60, (int(lengths.sum()),))
    segments = torch.randint(0, 2, ids.shape)
    ours = pieces(ids, lengths, segments)
    reference = transformers.BertModel.from_pretrained(folder).eval()
    apart = [
        reference(input_ids=part[None], token_type_ids=kind[None]).last_hidden_state[0]
        for part, kind in zip(ids.split(lengths.tolist()), segments.split(lengths.tolist()), strict=True)
    ]
    torch.testing.assert_close(ours, torch.cat(apart), rtol=1e-4, atol=1e-5)


def test_a_checkpoint_with_the_bert_prefix_and_a_head_is_read(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    plain = load_file(folder / "model.safetensors")
    with_head = {f"bert.{name}": value for name, value in plain.items()} | {"cls.bias": torch.zeros(2)}
    before = Pieces(PretrainedConfig(source=str(folder)), words=60).state_dict()
    save_file(with_head, folder / "model.safetensors")
    after = Pieces(PretrainedConfig(source=str(folder)), words=60).state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_an_architecture_that_would_fill_the_memory_is_refused(folder: Path) -> None:
    architecture = PretrainedConfig(source=str(folder)).resolved().architecture
    with pytest.raises(ConfigError, match=r"vocab_size: 1000000000000 is not a whole number from 1 to"):
        load(PretrainedConfig(architecture=architecture | {"vocab_size": 10**12}))
