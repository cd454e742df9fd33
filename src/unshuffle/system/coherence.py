"""How coherent a text is as it stands: its order scored against other orders of the same sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice, permutations

import numpy as np
from numpy.typing import NDArray

from unshuffle.errors import ConfigError
from unshuffle.graph.prepare import Item
from unshuffle.result import SLIGHTLY, Coherence, Move, Transition
from unshuffle.seeds import derived
from unshuffle.steps import Steps
from unshuffle.system.assemble import NO_NUMBERS
from unshuffle.system.contracts import OrderingModel, Reading

ALL_ORDERS = 6
"""Up to this many sentences, every order is looked at."""
RANDOM_ORDERS = 500
ALL_MOVES = 24
"""Up to this many sentences, every move is tried."""
LONG_STEP = 3
"""How far a sentence of a longer text is moved at most."""
BUDGET = 300_000
"""Orders times squared sentences spent on a text's percentile, and once more on its moves."""
CELLS = 2_000
"""Orders times sentences that are scored in one step."""
MOVES = 3
"""Moves that are proposed."""
NOT_ALL = 99.9
"""The highest percentile of a text that has a better order, which the orders drawn by lot may have missed."""
EQUAL = 1e-5
"""Log-probabilities closer than rounding can tell apart."""

Order = tuple[int, ...]


def coherence_steps(model: OrderingModel, item: Item, sentences: Sequence[str], *, seed: int = 0) -> Steps[Coherence]:
    """Scores the order in which the item stands.

    The text is read once, in the first step; in each of the others only the decoder runs, for some orders.
    """
    size = item.graph.sentences
    if size == 1:
        return Coherence(probability=1.0, log_probability=0.0, percentile=100.0, transitions=(), moves=())
    # Read in an order that the text does not tell, so that no encoder can see the order that is to be scored.
    hidden = sorted(range(size), key=lambda number: item.words[number].tolist())
    given: Order = tuple(np.argsort(hidden).tolist())
    with np.errstate(all="ignore"):  # weights that are no numbers are refused below
        reading = model.read([item.permuted(hidden)])
        choices = reading.choices([given])[0]
    total = float(choices.sum())
    if math.isnan(total):
        raise ConfigError(NO_NUMBERS)
    endings = (yield from _totals(reading, [_moved(given, (size - 1, to)) for to in _elsewhere(size)])) - total
    others = list(_other_orders(given, seed))
    moves = list(_moves(size, choices))
    gains = (yield from _totals(reading, [_moved(given, move) for move in moves])) - total
    percentile = _percentile(total, (yield from _totals(reading, others)))
    best = np.argsort(-gains, kind="stable")[:MOVES].tolist()
    if gains[best[0]] > EQUAL:
        percentile = min(percentile, NOT_ALL)
    # A choice is of a text, whichever of its copies that are left is taken.
    copies = np.log([sentences[position:].count(text) for position, text in enumerate(sentences)])
    log_probability = min(total + float(copies.sum()), 0.0)
    return Coherence(
        probability=math.exp(log_probability),
        log_probability=log_probability,
        percentile=percentile,
        transitions=tuple(
            Transition(position, position + 1, score)
            for position, score in enumerate([*np.exp(choices + copies)[1:-1].tolist(), _share(endings)])
        ),
        moves=tuple(
            Move(sentence=moves[which][0], to=moves[which][1], gain=float(gains[which]))
            for which in best
            if gains[which] >= SLIGHTLY
        ),
    )


def _totals(reading: Reading, orders: Sequence[Order]) -> Steps[NDArray[np.float64]]:
    """(orders,) log-probability of each order."""
    sums = np.zeros(len(orders))
    together = max(1, CELLS // len(orders[0])) if orders else 1
    for start in range(0, len(orders), together):
        yield
        sums[start : start + together] = reading.choices(orders[start : start + together]).sum(1)
    return sums


def _other_orders(given: Order, seed: int) -> Iterator[Order]:
    size = len(given)
    if size <= ALL_ORDERS:
        yield from (order for order in permutations(range(size)) if order != given)
        return
    rng = np.random.default_rng(derived(seed, "coherence", size))
    for _ in range(max(20, min(RANDOM_ORDERS, BUDGET // size**2))):
        order = tuple(rng.permutation(size).tolist())
        if order != given:
            yield order


def _percentile(total: float, others: NDArray[np.float64]) -> float:
    less = (others < total - EQUAL).sum() + 0.5 * (np.abs(others - total) <= EQUAL).sum()
    return float(100 * less / len(others))


def _elsewhere(size: int) -> range:
    """Where else the last sentence could stand; in a longer text, nearby."""
    return range(0 if size <= ALL_MOVES else size - 1 - LONG_STEP, size - 1)


def _share(others: NDArray[np.float64]) -> float:
    """How likely the end is where the last sentence stands, as against other positions; it is never chosen itself."""
    return float(1 / (1 + np.exp(np.minimum(others, 700.0)).sum()))


def _moves(size: int, choices: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    """Each sentence to each other position; a swap of neighbours counts once."""
    if size <= ALL_MOVES:
        yield from ((one, to) for one in range(size) for to in range(size) if to not in (one, one - 1))
        return
    worst = np.argsort(choices, kind="stable").tolist()
    steps = [step for far in range(1, LONG_STEP + 1) for step in (far, -far)]
    near = [(one, one + step) for one in worst for step in steps if 0 <= one + step < size]
    once = dict.fromkeys((min(move), max(move)) if abs(move[0] - move[1]) == 1 else move for move in near)
    yield from islice(once, max(20, BUDGET // size**2))


def _moved(order: Order, move: tuple[int, int]) -> Order:
    sentence, to = move
    rest = (*order[:sentence], *order[sentence + 1 :])
    return (*rest[:to], order[sentence], *rest[to:])
