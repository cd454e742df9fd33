"""Greedy feedback arc set (Eades, Lin & Smyth, 1993), then local search; for documents of any length."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unshuffle.rank.arrange import arrange
from unshuffle.rank.constraints import Constraints, Rules
from unshuffle.rank.insertion import improved
from unshuffle.rank.ranking import FloatArray, Ranking

ROUNDING = 1e-12
"""Edge sums below this are rounding errors."""


def by_eades(
    probability: ArrayLike,
    *,
    constraints: Constraints | None = None,
    tie_key: ArrayLike | None = None,
) -> Ranking:
    """Sinks to the back, sources to the front, else the sentence most ahead to the front; then single moves.

    The greedy part weighs an edge by p - 1/2, the moves by log p as Kemeny's rule does.
    """
    task = arrange(probability, constraints, tie_key)
    ahead = np.maximum(task.probability - task.probability.T, 0.0) / 2
    order = _from_the_front(ahead, task.rules) if task.rules.bind else _from_both_ends(ahead)
    return task.ranking(improved(task.weight, order, task.rules))


def _from_both_ends(ahead: FloatArray) -> list[int]:
    front: list[int] = []
    back: list[int] = []
    left = np.arange(len(ahead))
    out, into = ahead.sum(1), ahead.sum(0)
    while len(left):
        sinks, sources = out[left] <= ROUNDING, into[left] <= ROUNDING
        if sinks.any():
            chosen = left[sinks][-1]  # among equals the later label goes further back
            back.append(int(chosen))
        else:
            most = sources.argmax() if sources.any() else (out - into)[left].argmax()
            chosen = left[most]
            front.append(int(chosen))
        out -= ahead[:, chosen]
        into -= ahead[chosen]
        left = left[left != chosen]
    return front + back[::-1]


def _from_the_front(ahead: FloatArray, rules: Rules) -> list[int]:
    """Under rules only the front is sure to be free, so sentences are taken from there alone."""
    order: list[int] = []
    used = np.zeros(len(ahead), dtype=np.bool_)
    net = ahead.sum(1) - ahead.sum(0)
    for _ in range(len(ahead)):
        chosen = int(np.where(rules.allowed(used), net, -np.inf).argmax())
        order.append(chosen)
        used[chosen] = True
        net += ahead[chosen] - ahead[:, chosen]
    return order
