"""What every decoder must do, whatever it is made of."""

import inspect
from itertools import permutations
from math import factorial

import numpy as np
import pytest
import torch

from tests.decode.paragraphs import (
    CONFIGS,
    batch,
    decoder,
    paragraphs,
    probability,
    random_orders,
)
from tests.oracles.constraints import keeps
from unshuffle.decode.contracts import Gold, decoders
from unshuffle.metrics import tau
from unshuffle.rank import Constraints
from unshuffle.search.contracts import Search, allowed_orders

NAMES = list(CONFIGS)
LINEAR = {"pairs-antisymmetric", "pairs-encoded"}
"""Fewer weights than pairs to learn."""
EQUIVARIANT = [name for name in NAMES if name != "markers"]


def test_every_kind_is_tested() -> None:
    assert {decoders.kind(config) for config in CONFIGS.values()} == set(decoders.kinds())


@pytest.mark.parametrize("name", NAMES)
def test_configurations_are_written_and_read_alike(name: str) -> None:
    config = CONFIGS[name]
    assert decoders.read(decoders.write(config)) == config


@pytest.mark.parametrize("name", EQUIVARIANT)
def test_shuffling_the_input_shuffles_the_order_alike(name: str) -> None:
    model = decoder(name)
    assert not model.order_sensitive
    parts = paragraphs([5, 4, 6, 2, 1, 5])
    shuffles = random_orders([len(part) for part in parts], seed=3)
    plain = model.search(*batch(parts), Search(beam=16, keep=3))
    moved = model.search(
        *batch([part.permuted(shuffle) for part, shuffle in zip(parts, shuffles, strict=True)]),
        Search(beam=16, keep=3),
    )
    for before, after, shuffle in zip(plain, moved, shuffles, strict=True):
        back = tuple(tuple(shuffle[sentence] for sentence in order) for order in after.orders)
        assert back == before.orders
        assert after.log_probabilities == pytest.approx(before.log_probabilities)


def test_markers_say_that_the_input_order_matters() -> None:
    assert decoder("markers").order_sensitive


@pytest.mark.parametrize("name", NAMES)
def test_batching_changes_no_result(name: str) -> None:
    model = decoder(name)
    parts = paragraphs([3, 1, 6, 4, 2], seed=1)
    orders = random_orders([len(part) for part in parts])
    for search in (Search(beam=8), Search(beam=8, keep=3)):
        together = model.search(*batch(parts), search)
        for part, found in zip(parts, together, strict=True):
            (alone,) = model.search(*batch([part]), search)
            assert alone.orders == found.orders
            assert alone.log_probabilities == pytest.approx(found.log_probabilities)
    states, graph = batch(parts)
    together_steps = model.transitions(states, graph, Gold.of(orders)).tensor_split(graph.first_sentence.tolist()[1:])
    for part, order, steps in zip(parts, orders, together_steps, strict=True):
        alone_steps = model.transitions(*batch([part]), Gold.of([order]))
        torch.testing.assert_close(alone_steps, steps)


@pytest.mark.parametrize("name", NAMES)
def test_search_sees_no_gold(name: str) -> None:
    assert list(inspect.signature(decoder(name).search).parameters) == ["states", "graph", "search"]


@pytest.mark.parametrize("name", NAMES)
def test_transitions_add_up_to_the_found_probability(name: str) -> None:
    model = decoder(name, seed=2)
    parts = paragraphs([5, 3, 1, 7], seed=2)
    for part, found in zip(parts, model.search(*batch(parts), Search(beam=8, keep=4)), strict=True):
        assert len(found.orders) == min(4, factorial(len(part)))
        for order, value in zip(found.orders, found.log_probabilities, strict=True):
            assert sorted(order) == list(range(len(part)))
            assert probability(model, part, order) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_wide_beam_finds_what_enumeration_finds(name: str) -> None:
    model = decoder(name, seed=3)
    part = paragraphs([4], seed=4)[0]
    (found,) = model.search(*batch([part]), Search(beam=24, keep=24))
    every = {order: probability(model, part, order) for order in permutations(range(4))}
    assert dict(zip(found.orders, found.log_probabilities, strict=True)) == pytest.approx(every)
    assert np.exp(list(every.values())).sum() == pytest.approx(1)
    falling = list(found.log_probabilities)[1:]
    assert falling == sorted(falling, reverse=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_best_order_does_not_depend_on_how_many_are_kept(name: str) -> None:
    model = decoder(name, seed=5)
    parts = paragraphs([6, 5, 2], seed=6)
    one = model.search(*batch(parts), Search(beam=16))
    some = model.search(*batch(parts), Search(beam=16, keep=5))
    assert [found.orders[0] for found in one] == [found.orders[0] for found in some]


@pytest.mark.parametrize("name", NAMES)
def test_a_few_steps_learn_four_paragraphs_by_heart(name: str) -> None:
    model = decoder(name, seed=7).train()
    torch.manual_seed(0)
    for parameter in model.parameters():
        parameter.data.mul_(0.5)
    parts = paragraphs([4, 3, 4, 1], seed=8)
    states, graph = batch(parts)
    orders = random_orders([len(part) for part in parts], seed=9)
    gold = Gold.of(orders)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = model.loss(states, graph, gold)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    if name in LINEAR:
        assert losses[-1] < 0.8 * losses[0]
        return
    assert losses[-1] < 0.5 * losses[0]
    found = model.eval().search(states, graph, Search(beam=8))
    assert [list(some.orders[0]) for some in found] == orders


def mean_tau(model: object, parts: list[object], orders: list[list[int]]) -> float:
    found = model.search(*batch(parts), Search(beam=4))  # type: ignore[attr-defined, arg-type]
    return float(np.mean([tau(some.orders[0], order) for some, order in zip(found, orders, strict=True)]))


@pytest.mark.parametrize("name", NAMES)
def test_untrained_decoders_know_nothing(name: str) -> None:
    """Gold is the input order, so that any use of the index would show; markers are given a shuffled one."""
    model = decoder(name, seed=10)
    parts = paragraphs([5] * 200, seed=11)
    orders = random_orders([5] * 200) if name == "markers" else [list(range(5))] * 200
    assert abs(mean_tau(model, parts, orders)) < 0.15


@pytest.mark.parametrize("name", NAMES)
def test_ties_do_not_fall_by_index(name: str) -> None:
    model = decoder(name)
    for parameter in model.parameters():
        parameter.data.zero_()
    parts = paragraphs([5] * 200, seed=12)
    assert abs(mean_tau(model, parts, [list(range(5))] * 200)) < 0.15


@pytest.mark.parametrize("name", EQUIVARIANT)
def test_equal_sentences_draw_lots(name: str) -> None:
    model = decoder(name)
    parts = [part.permuted([0] * 5) for part in paragraphs([5] * 200, seed=13)]
    assert abs(mean_tau(model, parts, [list(range(5))] * 200)) < 0.15


CONSTRAINTS = [
    Constraints(before=((0, 3), (3, 1)), fixed=((2, 4),)),
    None,
    Constraints(within_source=("a", None, "a", "b", "b")),
    Constraints(fixed=((0, 2), (3, 0))),
    Constraints(before=((1, 0),)),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("beam", "keep"), [(1, 1), (16, 1), (16, 3)])
def test_constraints_are_kept(name: str, beam: int, keep: int) -> None:
    model = decoder(name, seed=14)
    parts = paragraphs([6, 3, 5, 4, 2], seed=15)
    states, graph = batch(parts)
    allowed = allowed_orders(CONSTRAINTS, graph.sizes.tolist())
    for some, part, found in zip(
        CONSTRAINTS, parts, model.search(states, graph, Search(beam=beam, keep=keep, allowed=allowed)), strict=True
    ):
        assert found.orders
        for order, value in zip(found.orders, found.log_probabilities, strict=True):
            assert sorted(order) == list(range(len(part)))
            assert keeps(order, some or Constraints())
            assert probability(model, part, order) == pytest.approx(value, abs=1e-9)
