"""Whatever runs the layers of a BERT says what the layers say."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.encoders.made_up import WORDS, collated, corpus
from unshuffle.encoders.pretrained import pieces as pieces_module
from unshuffle.encoders.pretrained.bert import Bert
from unshuffle.encoders.pretrained.loading import PretrainedConfig
from unshuffle.encoders.pretrained.pieces import Pieces
from unshuffle.encoders.pretrained.runners import LayerRange, Layout, Runner
from unshuffle.encoders.sentence.transformer_set import TransformerSet, TransformerSetConfig

SIZES = {
    "model_type": "bert",
    "vocab_size": 60,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
}
ALL = (0, 3)
LENGTHS = torch.tensor([5, 1, 9, 5, 30, 12])


@pytest.fixture
def pieces() -> Pieces:
    torch.manual_seed(5)
    found = Pieces(PretrainedConfig(architecture=SIZES, chunk_tokens=64), words=60).eval()
    with torch.no_grad():
        for name, value in found.named_parameters():
            value.normal_(float("LayerNorm.weight" in name), 0.3)
    return found


@torch.inference_mode()
def read(pieces: Pieces, lengths: Tensor = LENGTHS) -> Tensor:
    ids = torch.arange(int(lengths.sum())) * 7 % 60
    return pieces(ids, lengths, (ids > 20).long())


def onnx_runner(pieces: Pieces, *, int8: bool) -> Any:
    pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")
    pytest.importorskip("onnx", reason="needs the 'onnx' extra")
    from unshuffle.encoders.pretrained.onnx_runner import OnnxRunner
    from unshuffle.export.bert import bert_graph

    return OnnxRunner(bert_graph(whole(pieces), int8=int8), where="here")


def whole(pieces: Pieces) -> LayerRange:
    assert isinstance(pieces.model, Bert)
    return LayerRange.whole(pieces.model)


def test_a_layout_finds_every_piece_again() -> None:
    here = torch.tensor([[True, True, False], [True, True, True]])
    layout = Layout.of(here)
    assert layout.cells.flatten()[layout.place].tolist() == [0, 1, 2, 3, 4]
    assert (layout.mask[:, 0, 0] == 0).equal(here)


def test_onnx_in_32_bits_equals_torch(pieces: Pieces) -> None:
    expected = read(pieces)
    pieces.runners[ALL] = onnx_runner(pieces, int8=False)
    torch.testing.assert_close(read(pieces), expected, rtol=1e-4, atol=1e-4)


def test_onnx_in_8_bits_is_near(pieces: Pieces) -> None:
    expected = read(pieces)
    pieces.runners[ALL] = onnx_runner(pieces, int8=True)
    found = read(pieces)
    assert not torch.equal(found, expected)
    assert (found - expected).norm() < 0.1 * expected.norm()


def test_in_8_bits_too_batching_changes_no_result(pieces: Pieces) -> None:
    pieces.runners[ALL] = onnx_runner(pieces, int8=True)
    ids = torch.arange(int(LENGTHS.sum())) * 7 % 60
    with torch.inference_mode():
        together = pieces(ids, LENGTHS)
        apart = [pieces(part, torch.tensor([len(part)])) for part in ids.split(LENGTHS.tolist())]
    torch.testing.assert_close(together, torch.cat(apart), rtol=1e-5, atol=1e-5)


class Double:
    def __call__(self, states: Tensor, layout: Layout) -> Tensor:
        return 2 * states


def test_other_weights_end_a_runner(pieces: Pieces) -> None:
    plain = read(pieces)
    pieces.runners[ALL] = Double()
    assert not torch.equal(read(pieces), plain)
    assert torch.equal(read(copy.deepcopy(pieces)), plain) and pieces.runners
    pieces.load_state_dict(pieces.state_dict())
    assert not pieces.runners
    pieces.runners[ALL] = Double()
    pieces.eval()
    assert pieces.runners
    pieces.train().eval()
    assert torch.equal(read(pieces), plain)


def set_encoder() -> TransformerSet:
    """One layer in which sentences are alone, two in which they meet; heads differ in how they listen."""
    torch.manual_seed(3)
    encoder = TransformerSet(TransformerSetConfig(architecture=SIZES, alone=1), words=WORDS).eval()
    with torch.no_grad():
        encoder.apart.normal_(0, 0.2)
        for name, value in encoder.pieces.named_parameters():
            value.normal_(float("LayerNorm.weight" in name), 0.3)
    return encoder


def onnx(layers: LayerRange) -> Runner:
    pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")
    pytest.importorskip("onnx", reason="needs the 'onnx' extra")
    from unshuffle.encoders.pretrained.onnx_runner import OnnxRunner
    from unshuffle.export.bert import bert_graph

    return OnnxRunner(bert_graph(layers, int8=False), where="here")


def test_sentences_meet_in_a_runner_as_they_do_in_the_layers() -> None:
    encoder, batch = set_encoder(), collated(corpus(pieces=True))
    with torch.inference_mode():
        expected = encoder(batch)
        for runnable in encoder.runnables():
            runnable.run_by(onnx(runnable.layers))
        found = encoder(batch)
        deaf = copy.deepcopy(encoder)
        deaf.apart.fill_(-1e3)
        assert not torch.allclose(deaf(batch).sentences, expected.sentences, atol=1e-2)  # meeting does something
    torch.testing.assert_close(found.sentences, expected.sentences, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found.entities, expected.entities, rtol=1e-4, atol=1e-4)


def test_a_text_too_long_for_a_runner_goes_through_the_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, batch = set_encoder(), collated(corpus(pieces=True))
    with torch.inference_mode():
        expected = encoder(batch).sentences
        encoder.pieces.runners[1, 3] = Double()
        assert not torch.equal(encoder(batch).sentences, expected)
        monkeypatch.setattr(pieces_module, "RUN_CELLS", 0)
        assert torch.equal(encoder(batch).sentences, expected)


@pytest.mark.parametrize("apart", [-1e3, -0.25, 0.0, 0.2])
def test_sums_told_apart_say_what_a_mask_of_all_pairs_says(apart: float, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, batch = set_encoder(), collated(corpus(pieces=True))
    with torch.inference_mode():
        encoder.apart[:, 1:] = apart  # the first head keeps its own
        found = encoder(batch).sentences
        monkeypatch.setattr(pieces_module, "SUMS_ARE_TOLD", False)
        torch.testing.assert_close(found, encoder(batch).sentences, rtol=1e-4, atol=1e-4)
