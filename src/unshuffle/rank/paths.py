"""Chains of pair decisions are as strong as their weakest link."""

from __future__ import annotations

import numpy as np

from unshuffle.rank.ranking import FloatArray


def widest_paths(strength: FloatArray) -> FloatArray:
    """(n, n) for each pair the best chain's weakest edge, by Floyd and Warshall; 0 where no chain leads."""
    widest = strength.copy()
    np.fill_diagonal(widest, 0.0)
    for middle in range(len(widest)):
        np.maximum(widest, np.minimum(widest[:, middle, None], widest[middle]), out=widest)
    return widest
