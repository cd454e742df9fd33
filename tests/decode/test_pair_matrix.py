"""Pair networks, and the distribution over orders that their probabilities span."""

from itertools import permutations

import numpy as np
import pytest
import torch

from tests.decode.paragraphs import ENCODED, WIDTH, batch, decoder, paragraphs, random_orders
from unshuffle.decode.contracts import Gold, decoders
from unshuffle.decode.pair_matrix import PairMatrixConfig
from unshuffle.decode.pairs import orders
from unshuffle.decode.pairs.orders import OrderDistribution
from unshuffle.errors import ConfigError
from unshuffle.rank import METHODS, by_kemeny, two_sided
from unshuffle.search.contracts import Search


def chances(size: int, seed: int = 0) -> np.ndarray:
    return two_sided(np.random.default_rng(seed).random((size, size)))


def test_an_order_weighs_the_product_of_its_pairs() -> None:
    probability = chances(4)
    every = list(permutations(range(4)))
    weight = [np.prod([probability[order[i], order[j]] for i in range(4) for j in range(i + 1, 4)]) for order in every]
    share = np.log(np.array(weight) / sum(weight))
    distribution = OrderDistribution(probability)
    assert [distribution.log_probability(order) for order in every] == pytest.approx(list(share))


def test_the_kemeny_order_is_the_most_probable() -> None:
    probability = chances(5)
    distribution = OrderDistribution(probability)
    best = max(permutations(range(5)), key=distribution.log_probability)
    assert best == by_kemeny(probability).order


def test_the_approximation_for_long_documents_is_normalised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "LARGEST", 2)
    probability = chances(5, seed=1)
    distribution = OrderDistribution(probability)
    total = sum(np.exp(distribution.log_probability(order)) for order in permutations(range(5)))
    assert total == pytest.approx(1)
    order = (3, 1, 0, 4, 2)
    for step, chosen in enumerate(distribution.choices(order)):
        left = order[step:]
        row = [sum(distribution.weight[one, other] for other in left) for one in left]
        assert chosen == pytest.approx(row[0] - np.logaddexp.reduce(row))


def test_long_documents_are_ordered_with_their_next_best() -> None:
    model = decoder("pairs-mlp")
    part = paragraphs([17])[0]
    (found,) = model.search(*batch([part]), Search(beam=8, keep=3))
    assert len(set(found.orders)) == 3
    gold = Gold.of([list(found.orders[1])])
    assert float(model.transitions(*batch([part]), gold).sum()) == pytest.approx(found.log_probabilities[1])


@pytest.mark.parametrize("method", METHODS)
def test_every_ranker_serves(method: str) -> None:
    config = PairMatrixConfig(method=method)  # type: ignore[arg-type]
    model = decoders.build(config, width=WIDTH, encoded_width=ENCODED).double().eval()  # type: ignore[attr-defined]
    parts = paragraphs([5, 16])
    found = model.search(*batch(parts), Search())
    assert [sorted(some.orders[0]) for some in found] == [list(range(5)), list(range(16))]


@pytest.mark.parametrize("name", ["pairs-mlp", "pairs-classifier", "pairs-antisymmetric", "pairs-encoded"])
def test_both_directions_agree_after_averaging(name: str) -> None:
    model = decoder(name)
    states, graph = batch(paragraphs([4, 2]))
    for probability in model.probabilities(states, graph):
        np.testing.assert_allclose(probability + probability.T, 1)
    if name == "pairs-antisymmetric":
        logits = model.logits(states, graph)
        torch.testing.assert_close(logits, -logits.transpose(1, 2))
        one, other = states.sentences[0], states.sentences[3]  # STaCK: W sin(h_i - h_j)
        torch.testing.assert_close(logits[0, 0, 3], model.pair_score.weight.weight[0] @ torch.sin(one - other))


def test_the_loss_asks_about_every_ordered_pair() -> None:
    model = decoder("pairs-encoded")
    parts = paragraphs([3, 1, 2])
    given = random_orders([3, 1, 2])
    slow = []
    for part, order in zip(parts, given, strict=True):
        for one in range(len(part)):
            for other in range(len(part)):
                if one != other:
                    chance = model.pair_score.score(part.pairs[one, other]).sigmoid()
                    slow.append(-(chance if order.index(one) < order.index(other) else 1 - chance).log())
    torch.testing.assert_close(model.loss(*batch(parts), Gold.of(given)), torch.cat(slow).mean())


def test_documents_of_one_sentence_cost_nothing() -> None:
    model = decoder("pairs-mlp")
    states, graph = batch(paragraphs([1, 1]))
    loss = model.loss(states, graph, Gold.of([[0], [0]]))
    loss.backward()
    assert float(loss.detach()) == 0


def test_pair_vectors_need_a_pair_encoder() -> None:
    with pytest.raises(ConfigError, match=r"decoder\.network: 'encoded' needs"):
        decoders.build(PairMatrixConfig(network="encoded"), width=WIDTH, encoded_width=ENCODED)
