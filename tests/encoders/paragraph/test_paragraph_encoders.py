"""Paragraph encoders: what all of them must do, and what each computes."""

import json
from typing import Any

import pytest
import torch
from torch import nn

from tests.encoders.made_up import (
    ENTITY,
    PAIR,
    WIDTH,
    close,
    collated,
    corpus,
    of_document,
    pairs_before,
    shuffled,
    untouched,
    vectors,
    weights_of,
)
from unshuffle.encoders.contracts import Encoded, States, paragraph_encoders
from unshuffle.encoders.paragraph.gin import GINConfig
from unshuffle.encoders.paragraph.lstm import ParagraphLSTMConfig
from unshuffle.encoders.paragraph.none import NoneConfig
from unshuffle.encoders.paragraph.rgcn import AFTER, BEFORE, FROM_DOCUMENT, MENTIONED_BY, MENTIONS, RELATED, RGCNConfig
from unshuffle.encoders.paragraph.rgcn import TO_DOCUMENT as INTO_DOCUMENT
from unshuffle.encoders.paragraph.set_lstm import SetLSTMConfig
from unshuffle.encoders.paragraph.transformer import ParagraphTransformerConfig
from unshuffle.errors import ConfigError
from unshuffle.graph.pairs import ordered_pairs, pair_numbers

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


def built(config: Any) -> Any:
    torch.manual_seed(0)
    encoder = paragraph_encoders.build(config, width=WIDTH, entity_input=ENTITY)
    assert isinstance(encoder, nn.Module)
    return encoder.eval()


@pytest.mark.parametrize("config", ALL, ids=name)
def test_shapes_are_as_declared(config: Any) -> None:
    encoder, batch = built(config), collated(corpus())
    states: States = encoder(vectors(batch), batch.graph, weights_of(batch))
    assert states.sentences.shape == (batch.graph.sentences, encoder.width)
    assert states.documents.shape == (batch.graph.documents, encoder.width)
    assert encoder.order_sensitive == (config not in SETS)


@pytest.mark.parametrize("config", ALL, ids=name)
def test_batching_changes_no_result(config: Any) -> None:
    encoder, items = built(config), corpus()
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
    encoder, items = built(config), corpus()
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
    encoder, batch = built(config), collated(corpus())
    states = encoder(vectors(batch), batch.graph, weights_of(batch))
    (states.sentences.pow(3).sum() + states.documents.pow(3).sum()).backward()
    assert untouched(encoder) == []


@pytest.mark.parametrize("config", ALL, ids=name)
def test_a_config_survives_json(config: Any) -> None:
    assert paragraph_encoders.read(json.loads(json.dumps(paragraph_encoders.write(config)))) == config


def test_without_context_the_document_is_the_mean() -> None:
    batch = collated(corpus())
    encoded = vectors(batch)
    states = built(NoneConfig())(encoded, batch.graph, weights_of(batch))
    assert states.sentences is encoded.sentences
    close(states.documents, torch.stack([part.mean(0) for part in encoded.sentences.split([5, 1, 3, 4])]))


def test_the_lstm_reads_sentences_as_torch_does() -> None:
    batch = collated(corpus())
    encoded, encoder = vectors(batch), built(ParagraphLSTMConfig(width=5))
    read = [encoder.lstm(part)[0] for part in encoded.sentences.split([5, 1, 3, 4])]
    states = encoder(encoded, batch.graph, weights_of(batch))
    close(states.sentences, torch.cat(read))
    close(states.documents, torch.stack([part[-1] for part in read]))


def test_the_set_lstm_reads_process_by_process() -> None:
    batch = collated(corpus())
    encoded, encoder = vectors(batch), built(SetLSTMConfig(reads=3, attention_width=4))
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
    encoded, encoder = vectors(batch), built(ParagraphTransformerConfig(layers=1, heads=2, feedforward=7))
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
    encoder = built(ParagraphTransformerConfig(layers=1, heads=2, feedforward=0, fusion=True))
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
        built(ParagraphTransformerConfig(heads=4))


@pytest.mark.parametrize("edges", ["windows", "links"])
def test_the_gin_adds_up_predecessors(edges: Any) -> None:
    batch = collated(corpus())
    graph, encoded = batch.graph, vectors(batch)
    encoder = built(GINConfig(width=5, edges=edges, windows=(3, 2), depths=(2, 1)))
    states = encoder(encoded, graph, weights_of(batch))
    size = graph.sentences
    tables = [torch.zeros(size, size) for _ in range(2)]  # from, to
    if edges == "links":
        for (first, second), weight in zip(graph.pairs.T.tolist(), weights_of(batch).tolist(), strict=True):
            for table in tables:
                table[first, second], table[second, first] = weight, 1 - weight
    else:
        pairs = ordered_pairs(graph).T.tolist()
        for window in range(2):
            chance = {
                tuple(pair): float(logit.detach().sigmoid())
                for pair, logit in zip(pairs, states.windows[:, window], strict=True)
            }
            found = {pair: value for pair, value in chance.items() if value > 0.5}
            if window == 1:  # the smaller one
                for (one, other), value in chance.items():
                    if value <= 0.5:
                        found[other, one] = max(found.get((other, one), 0), 1 - value)
            for (one, other), value in found.items():
                if value >= found.get((other, one), 0):
                    tables[window][one, other] = value
    outputs = []
    for table, network in zip(tables, encoder.networks, strict=True):
        nodes, seen = encoded.sentences, []
        for layer in network.layers:
            nodes = layer(nodes + table.T @ nodes)
            seen.append(nodes)
        outputs.append(network.output(torch.cat(seen, 1)))
    close(states.sentences, encoder.output(torch.cat(outputs, 1)).relu())


def test_windows_are_learnt_from_the_true_order() -> None:
    batch = collated(corpus()[:1])
    encoder = built(GINConfig(width=5))
    states = encoder(vectors(batch), batch.graph, weights_of(batch))
    place = torch.tensor([3, 0, 4, 1, 2])
    pairs = ordered_pairs(batch.graph).T.tolist()
    losses = []
    for window, limit in enumerate((2, 3, 5)):
        chance = states.windows[:, window].sigmoid()
        follows = [0 < place[other] - place[one] < limit for one, other in pairs]
        yes = [-value.log() for value, answer in zip(chance, follows, strict=True) if answer]
        no = [-(1 - value).log() for value, answer in zip(chance, follows, strict=True) if not answer]
        losses.append((sum(yes) / len(yes) + sum(no) / len(no)) / 2)
    loss = encoder.auxiliary_loss(states, batch.graph, place)
    close(loss, torch.stack(losses).mean())
    loss.backward()
    assert encoder.head.score.weight.grad.any()


def test_windows_without_a_depth_are_refused() -> None:
    with pytest.raises(ConfigError, match="depths"):
        built(GINConfig(depths=(1, 2)))


def test_pair_vectors_of_another_width_are_refused() -> None:
    batch = collated(corpus())
    with pytest.raises(ConfigError, match=r"pair_width.*7"):
        built(GINConfig(pair_width=3))(vectors(batch), batch.graph, weights_of(batch))


def test_the_rgcn_has_a_matrix_for_every_relation() -> None:
    batch = collated(corpus())
    graph, encoded, encoder = batch.graph, vectors(batch), built(RGCNConfig(width=5, layers=2))
    sentence = encoder.from_sentence(encoded.sentences)
    entity_at, document_at = graph.sentences, graph.sentences + graph.entities
    mean = [sentence[graph.document_of_sentence == number].mean(0) for number in range(graph.documents)]
    nodes = torch.cat([sentence, encoder.from_entity(encoded.entities), torch.stack(mean)])
    edges: list[tuple[int, int, int, float]] = []  # to, from, relation, weight
    for (one, other), weight in zip(graph.pairs.T.tolist(), weights_of(batch).tolist(), strict=True):
        edges += [(one, other, BEFORE, weight), (one, other, AFTER, 1 - weight)]
        edges += [(other, one, BEFORE, 1 - weight), (other, one, AFTER, weight)]
    for (entity, place), role in zip(graph.mentions.T.tolist(), graph.roles.tolist(), strict=True):
        edges += [(entity_at + entity, place, MENTIONED_BY + role - 1, 1)]
        edges += [(place, entity_at + entity, MENTIONS + role - 1, 1)]
    for one, other in graph.relations.T.tolist():
        edges += [(entity_at + one, entity_at + other, RELATED, 1), (entity_at + other, entity_at + one, RELATED, 1)]
    for place, document in enumerate(graph.document_of_sentence.tolist()):
        edges += [(document_at + document, place, INTO_DOCUMENT, 1), (place, document_at + document, FROM_DOCUMENT, 1)]
    for layer in encoder.layers:
        bases = layer.basis.weight.view(2, 5, 5)
        new = [layer.own(node) for node in nodes]
        for end, start, relation, weight in edges:
            matrix = sum(share * basis for share, basis in zip(layer.mixture[relation], bases, strict=True))
            alike = sum(edge[0] == end and edge[2] == relation for edge in edges)
            new[end] = new[end] + weight / alike * (matrix @ nodes[start])
        nodes = torch.stack(new).relu()
    states = encoder(encoded, graph, weights_of(batch))
    close(states.sentences, nodes[:entity_at])
    close(states.documents, nodes[document_at:])


def test_pair_numbers_turn_pairs_around() -> None:
    graph = collated(corpus()).graph
    one, other = ordered_pairs(graph)
    back = pair_numbers(graph, other, one)
    assert torch.equal(back[back], torch.arange(len(back)))
