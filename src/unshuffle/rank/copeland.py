"""Order by how many sentences one beats."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unshuffle.rank.arrange import arrange
from unshuffle.rank.borda import row_sums
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.ranking import Ranking


def by_copeland(
    probability: ArrayLike, *, constraints: Constraints | None = None, tie_key: ArrayLike | None = None
) -> Ranking:
    """The sentences by falling number of pairs won, ties half (Copeland's rule); equals by row sum of p."""
    task = arrange(probability, constraints, tie_key)
    wins = np.sign(task.probability - task.probability.T).sum(1)
    wanted = np.lexsort((-row_sums(task.probability), -wins))  # lexsort is stable
    return task.ranking(task.rules.nearest(wanted.tolist()))
