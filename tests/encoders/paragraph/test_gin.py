"""The graph isomorphism network of ConsGraph."""

from typing import Any

import pytest
import torch

from tests.encoders.made_up import (
    close,
    collated,
    corpus,
    paragraph_encoder,
    vectors,
    weights_of,
)
from unshuffle.encoders.paragraph.gin import GINConfig
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import ordered_pairs


@pytest.mark.parametrize("edges", ["windows", "links"])
def test_the_gin_adds_up_predecessors(edges: Any) -> None:
    batch = collated(corpus())
    graph, encoded = batch.graph, vectors(batch)
    encoder = paragraph_encoder(GINConfig(width=5, edges=edges, windows=(3, 2), depths=(2, 1)))
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
    encoder = paragraph_encoder(GINConfig(width=5))
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
        paragraph_encoder(GINConfig(depths=(1, 2)))


def test_pair_vectors_of_another_width_are_refused() -> None:
    batch = collated(corpus())
    with pytest.raises(ConfigError, match=r"pair_width.*7"):
        paragraph_encoder(GINConfig(pair_width=3))(vectors(batch), batch.graph, weights_of(batch))
