"""Paragraph encoders: what all of them must do, and what the simple ones compute."""

import json
from typing import Any

import pytest
import torch
from torch import nn

from tests.encoders.made_up import (
    PAIR,
    WIDTH,
    close,
    collated,
    corpus,
    of_document,
    pairs_before,
    paragraph_encoder,
    shuffled,
    untouched,
    vectors,
    weights_of,
)
from unshuffle.encoders.contracts import Encoded, States, paragraph_encoders
from unshuffle.encoders.paragraph.gin import GINConfig
from unshuffle.encoders.paragraph.lstm import ParagraphLSTMConfig
from unshuffle.encoders.paragraph.none import NoneConfig
from unshuffle.encoders.paragraph.rgcn import RGCNConfig
from unshuffle.encoders.paragraph.set_lstm import SetLSTMConfig
from unshuffle.encoders.paragraph.transformer import ParagraphTransformerConfig
from unshuffle.errors import ConfigError

SETS = [
    NoneConfig(),
    SetLSTMConfig(reads=3, attention_width=4),
    ParagraphTransformerConfig(heads=2, feedforward=7),
    ParagraphTransformerConfig(layers=3, heads=3, feedforward=0, fusion=True),
    GINConfig(width=5),
    GINConfig(width=5, windows=(4, 2), depths=(1, 2), pair_width=PAIR),
    GINConfig(width=5, edges="links"),
    RGCNConfig(width=5),
]
ALL = [*SETS, ParagraphLSTMConfig(width=5)]


def name(config: Any) -> str:
    return paragraph_encoders.kind(config)


@pytest.mark.parametrize("config", ALL, ids=name)
def test_shapes_are_as_declared(config: Any) -> None:
    encoder, batch = paragraph_encoder(config), collated(corpus())
    states: States = encoder(vectors(batch), batch.graph, weights_of(batch))
    assert states.sentences.shape == (batch.graph.sentences, encoder.width)
    assert states.documents.shape == (batch.graph.documents, encoder.width)
    assert encoder.order_sensitive == (config not in SETS)


@pytest.mark.parametrize("config", ALL, ids=name)
def test_batching_changes_no_result(config: Any) -> None:
    encoder, items = paragraph_encoder(config), corpus()
    batch = collated(items)
    encoded = vectors(batch)
    together = encoder(encoded, batch.graph, weights_of(batch))
    apart = []
    for number, item in enumerate(items):
        alone = collated([item])
        apart.append(encoder(of_document(encoded, batch.graph, number), alone.graph, weights_of(alone)))
    close(together.sentences, torch.cat([states.sentences for states in apart]))
    close(together.documents, torch.cat([states.documents for states in apart]))


@pytest.mark.parametrize("config", ALL, ids=name)
def test_only_what_says_so_notices_the_order_of_sentences(config: Any) -> None:
    encoder, items = paragraph_encoder(config), corpus()
    batch = collated(items)
    encoded = vectors(batch)
    moved_items, before = shuffled(items)
    moved = collated(moved_items)
    assert encoded.pairs is not None
    moved_encoded = Encoded(
        encoded.sentences[before], encoded.entities, encoded.pairs[pairs_before(before, batch.graph, moved.graph)]
    )
    states = encoder(encoded, batch.graph, weights_of(batch))
    moved_states = encoder(moved_encoded, moved.graph, weights_of(moved))
    if encoder.order_sensitive:
        assert not torch.allclose(moved_states.documents, states.documents)
    else:
        close(moved_states.sentences, states.sentences[before])
        close(moved_states.documents, states.documents)


@pytest.mark.parametrize("config", ALL[1:], ids=name)
def test_gradients_reach_every_parameter(config: Any) -> None:
    encoder, batch = paragraph_encoder(config), collated(corpus())
    states = encoder(vectors(batch), batch.graph, weights_of(batch))
    (states.sentences.pow(3).sum() + states.documents.pow(3).sum()).backward()
    assert untouched(encoder) == []


@pytest.mark.parametrize("config", ALL, ids=name)
def test_a_config_survives_json(config: Any) -> None:
    assert paragraph_encoders.read(json.loads(json.dumps(paragraph_encoders.write(config)))) == config


def test_without_context_the_document_is_the_mean() -> None:
    batch = collated(corpus())
    encoded = vectors(batch)
    states = paragraph_encoder(NoneConfig())(encoded, batch.graph, weights_of(batch))
    assert states.sentences is encoded.sentences
    close(states.documents, torch.stack([part.mean(0) for part in encoded.sentences.split([5, 1, 3, 4])]))


def test_the_lstm_reads_sentences_as_torch_does() -> None:
    batch = collated(corpus())
    encoded, encoder = vectors(batch), paragraph_encoder(ParagraphLSTMConfig(width=5))
    read = [encoder.lstm(part)[0] for part in encoded.sentences.split([5, 1, 3, 4])]
    states = encoder(encoded, batch.graph, weights_of(batch))
    close(states.sentences, torch.cat(read))
    close(states.documents, torch.stack([part[-1] for part in read]))


def test_the_set_lstm_reads_process_by_process() -> None:
    batch = collated(corpus())
    encoded, encoder = vectors(batch), paragraph_encoder(SetLSTMConfig(reads=3, attention_width=4))
    expected = []
    for sentences in encoded.sentences.split([5, 1, 3, 4]):
        hidden = cell = torch.zeros(1, WIDTH)
        for _ in range(3):
            scores = [
                encoder.score(torch.tanh(encoder.from_sentence(sentence) + encoder.from_state(hidden[0])))
                for sentence in sentences
            ]
            heard = torch.softmax(torch.cat(scores), 0) @ sentences
            hidden, cell = encoder.cell(heard[None], (hidden, cell))
        expected.append(hidden[0])
    states = encoder(encoded, batch.graph, weights_of(batch))
    close(states.documents, torch.stack(expected))
    assert states.sentences is encoded.sentences


def test_the_transformer_is_that_of_torch() -> None:
    batch = collated(corpus())
    encoded, encoder = vectors(batch), paragraph_encoder(ParagraphTransformerConfig(layers=1, heads=2, feedforward=7))
    (block,) = encoder.layers
    layer = nn.TransformerEncoderLayer(WIDTH, 2, 7, batch_first=True).eval()
    names = {
        "self_attn.in_proj_": "query_key_value.",
        "self_attn.out_proj.": "output.",
        "linear1.": "feedforward.0.",
        "linear2.": "feedforward.3.",
        "norm1.": "mix_heard.norm.",
        "norm2.": "mix_thought.norm.",
    }
    ours = block.state_dict()
    layer.load_state_dict(
        {theirs + kind: ours[own + kind] for theirs, own in names.items() for kind in ("weight", "bias")}
    )
    states = encoder(encoded, batch.graph, weights_of(batch))
    close(states.sentences, torch.cat([layer(part[None])[0] for part in encoded.sentences.split([5, 1, 3, 4])]))


def test_a_fusion_gate_chooses_between_old_and_new() -> None:
    batch = collated(corpus())
    encoded = vectors(batch)
    encoder = paragraph_encoder(ParagraphTransformerConfig(layers=1, heads=2, feedforward=0, fusion=True))
    (block,) = encoder.layers
    expected = []
    for old in encoded.sentences.split([5, 1, 3, 4]):
        query, key, value = block.query_key_value(old).relu().chunk(3, 1)
        heads = [
            torch.softmax(query[:, part] @ key[:, part].T / 3**0.5, 1) @ value[:, part]
            for part in (slice(0, 3), slice(3, 6))
        ]
        new = block.output(torch.cat(heads, 1))
        gate = block.mix_heard.gate(torch.cat([old, new], 1)).sigmoid()
        expected.append(block.mix_heard.norm(gate * old + (1 - gate) * new))
    close(encoder(encoded, batch.graph, weights_of(batch)).sentences, torch.cat(expected))


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ConfigError, match="heads"):
        paragraph_encoder(ParagraphTransformerConfig(heads=4))
