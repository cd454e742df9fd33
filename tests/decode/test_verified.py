"""The coherence verifier against loops written straight from its graph, and the search that it re-ranks."""

from itertools import permutations

import pytest
import torch
from torch import Tensor

from tests.decode.paragraphs import Paragraph, batch, decoder, paragraphs, probability, random_orders
from unshuffle.decode.contracts import Gold
from unshuffle.decode.verified import Layer, VerifiedConfig, disturbed
from unshuffle.errors import ConfigError
from unshuffle.search.contracts import Search


def said(layer: Layer, relation: int, state: Tensor) -> Tensor:
    matrices = layer.basis.weight.view(layer.bases, -1, state.shape[-1])
    return sum(share * matrix @ state for share, matrix in zip(layer.mixture[relation], matrices, strict=True))  # type: ignore[return-value]


def slow_coherence(model: object, part: Paragraph, order: list[int]) -> Tensor:
    """Sentence i hears i - 1, the mean of all before that, and in the first layer the document."""
    verifier = model.verifier  # type: ignore[attr-defined]
    states = [part.encoded[sentence] for sentence in order]
    document = part.encoded.mean(0)
    for number, layer in enumerate((verifier.first, verifier.second)):
        heard = []
        for place, state in enumerate(states):
            total = layer.own(state)
            if place > 0:
                total = total + said(layer, 0, states[place - 1])
            if place > 1:
                total = total + torch.stack([said(layer, 1, other) for other in states[: place - 1]]).mean(0)
            if number == 0:
                total = total + said(layer, 2, document)
            heard.append(total.relu())
        states = heard
    return verifier.score(torch.stack(states).sum(0))[0]  # type: ignore[no-any-return]


def test_the_first_order_has_the_highest_sum_of_weighted_probability_and_coherence() -> None:
    model = decoder("verified", seed=3)
    for part in paragraphs([4, 3, 2, 1], seed=5):
        every = {}
        for order in permutations(range(len(part))):
            so_far = [list(order[:size]) for size in range(2, len(part) + 1)]
            coherence = sum(slow_coherence(model, part, some).sigmoid().item() for some in so_far)
            every[order] = 0.1 * probability(model, part, order) + coherence
        (found,) = model.search(*batch([part]), Search(beam=24))
        assert found.orders[0] == max(every, key=every.__getitem__)
        assert found.log_probabilities[0] == pytest.approx(probability(model, part, found.orders[0]))


def test_the_verifier_learns_from_the_true_order_and_two_that_are_worse() -> None:
    model = decoder("verified")
    parts = paragraphs([6, 2, 1, 5], seed=1)
    orders = random_orders([6, 2, 1, 5], seed=2)
    states, graph = batch(parts)
    slow = []
    for part, order in zip(parts, orders, strict=True):
        worse = disturbed(len(part), torch.Generator().manual_seed(len(part)))
        scores = [slow_coherence(model, part, [order[place] for place in some]) for some in worse]
        for one, other in ((0, 1), (0, 2), (1, 2)):
            share = torch.stack([scores[one], scores[other]]).softmax(0)
            missed = (0.1 - (share[0] - share[1])).relu()
            slow.append(missed if worse[one] != worse[other] else 0 * missed)
    loss = model.verifier_loss(states, graph, Gold.of(orders))
    torch.testing.assert_close(loss, torch.stack(slow).sum() / (3 * len(parts)))
    assert loss.item() > 0


def test_orders_are_disturbed_by_degrees() -> None:
    generator = torch.Generator().manual_seed(1)
    for size in (1, 2, 3, 4, 9):
        for _ in range(20):
            true, some, more = disturbed(size, generator)
            moved = [{place for place in range(size) if order[place] != place} for order in (true, some, more)]
            assert moved[0] == set() and moved[1] <= moved[2]
            assert bool(moved[1]) == (size > 1)
            assert (moved[1] < moved[2]) == (size > 3)


def test_the_verifier_does_not_change_what_the_baseline_learns() -> None:
    model = decoder("verified")
    states, graph = batch(paragraphs([4, 3]))
    states.encoded.sentences.requires_grad_()
    model.verifier_loss(states, graph, Gold.of(random_orders([4, 3]))).backward()
    assert states.encoded.sentences.grad is None
    assert all(parameter.grad is None for parameter in model.base.parameters())
    assert model.verifier.score.weight.grad is not None


@pytest.mark.parametrize("kind", ["pair_matrix", "verified"])
def test_what_does_not_choose_step_by_step_cannot_be_verified(kind: str) -> None:
    with pytest.raises(ConfigError, match=rf"decoder\.base: '{kind}'"):
        VerifiedConfig(base={"kind": kind})
