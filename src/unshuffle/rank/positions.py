"""Order by a score of each sentence for each position, by the best one-to-one assignment."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unshuffle.errors import DataError
from unshuffle.rank.arrange import row_order
from unshuffle.rank.constraints import Constraints, Rules
from unshuffle.rank.ranking import Ranking


def by_positions(
    scores: ArrayLike, *, constraints: Constraints | None = None, tie_key: ArrayLike | None = None
) -> Ranking:
    """(sentences, positions) -> the order with the highest sum of scores (Hungarian method).

    Under constraints sentences are assigned inside their windows, then precedences that are still broken are mended
    by putting the first allowed sentence at each position.
    """
    from scipy.optimize import linear_sum_assignment  # an eighth of the start of a command that seldom needs it

    given = np.array(scores, dtype=np.float64)
    given = given.reshape(0, 0) if given.size == 0 else given
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not np.isfinite(given).all():
        raise DataError(
            f"positions: shape {given.shape} is not one finite score per sentence and position. Give a square."
        )
    labels = row_order(given, tie_key)
    matrix = given[labels]
    rules = Rules.free(len(given)) if constraints is None else constraints.rules(len(given)).relabelled(labels)
    position = np.arange(len(given))
    inside = (rules.earliest[:, None] <= position) & (position <= rules.latest[:, None])
    _, assigned = linear_sum_assignment(np.where(inside, matrix, -np.inf), maximize=True)
    order = rules.nearest(np.argsort(assigned).tolist())
    return Ranking(tuple(int(labels[at]) for at in order), float(matrix[order, position].sum()))
