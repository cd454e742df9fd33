"""Order by how many sentences one is expected to precede."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unshuffle.rank.arrange import arrange
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.ranking import FloatArray, Ranking

DIGITS = 12
"""Row sums that agree to this many digits are equal; the rest is rounding."""


def row_sums(probability: FloatArray) -> FloatArray:
    """How many sentences each one is expected to precede, from both directions of each pair."""
    sums: FloatArray = (0.5 + 0.5 * (probability - probability.T)).sum(1)
    return np.round(sums, DIGITS)


def by_borda(
    probability: ArrayLike, *, constraints: Constraints | None = None, tie_key: ArrayLike | None = None
) -> Ranking:
    """The sentences by decreasing row sum of p (Borda's rule)."""
    task = arrange(probability, constraints, tie_key)
    wanted = np.argsort(-row_sums(task.probability), kind="stable")
    return task.ranking(task.rules.nearest(wanted.tolist()))
