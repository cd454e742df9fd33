"""Order by one score per sentence (RankTxNet, ConsGraph)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unshuffle.errors import DataError
from unshuffle.rank.arrange import row_order
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.ranking import Ranking


def by_scores(
    scores: ArrayLike, *, constraints: Constraints | None = None, tie_key: ArrayLike | None = None
) -> Ranking:
    """The sentences by decreasing score.

    The ranking's score is the order's log probability when each next sentence is drawn by the softmax of those left
    (Plackett & Luce).
    """
    given = np.array(scores, dtype=np.float64)
    if given.ndim != 1 or not np.isfinite(given).all():
        raise DataError(f"scores: shape {given.shape} is not one finite number per sentence. Give a list of numbers.")
    labels = row_order(given[:, None], tie_key)
    wanted = labels[np.argsort(-given[labels], kind="stable")].tolist()
    order = wanted if constraints is None else constraints.rules(len(given)).nearest(wanted)
    arranged = given[order]
    left = np.logaddexp.accumulate(arranged[::-1])[::-1] if len(arranged) else arranged
    return Ranking(tuple(order), float((arranged - left).sum()))
