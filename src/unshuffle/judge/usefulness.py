"""Which question would help most: orders drawn from what is known so far say what follows from each answer."""

from __future__ import annotations

import numpy as np

from unshuffle.judge.contracts import chance_of
from unshuffle.rank.ranking import FloatArray, IntArray

DRAWS = 192
"""Orders that stand for all that are still possible."""
MOST_SWEEPS = 240
MOST_PAIRS = 400
"""Pairs whose questions are weighed against each other; beyond, those nearest to 0.5."""


class Orders:
    """Orders drawn such that exchanging two neighbours changes their odds by those of the pair."""

    def __init__(self, start: IntArray, seed: int) -> None:
        self._drawn = np.tile(start, (DRAWS, 1))
        self._random = np.random.default_rng(seed)

    def draw(self, odds: FloatArray) -> None:
        """Moves on to orders under these log-odds, by exchanging neighbours as often as their odds want it."""
        size = self._drawn.shape[1]
        keep = chance_of(odds)
        for sweep in range(min(4 * size + 8, MOST_SWEEPS)):
            start = sweep % 2
            left, right = self._drawn[:, start : size - 1 : 2], self._drawn[:, start + 1 : size : 2]
            kept = self._random.random(left.shape) < keep[left, right]
            # Exchanging neighbours changes no other pair, so all of them may be drawn at once.
            self._drawn[:, start : size - 1 : 2], self._drawn[:, start + 1 : size : 2] = (
                np.where(kept, left, right),
                np.where(kept, right, left),
            )

    def before(self, first: IntArray, second: IntArray) -> FloatArray:
        """(draws, pairs) 1 where the first of a pair comes first."""
        position = np.argsort(self._drawn, axis=1)
        found: FloatArray = (position[:, first] < position[:, second]).astype(np.float64)
        return found


def gains(before: FloatArray, reliability: float) -> FloatArray:
    """(draws, pairs) -> (pairs,) how many more of all pairs are expected to come right once a pair is answered.

    A pair q is right with chance max(m, 1 - m), where m is the share of orders that have it one way. An answer on p
    changes the m of every q that hangs together with p.
    """
    draws = len(before)
    share = before.mean(0)  # (pairs,)
    both = before.T @ before / draws  # (asked, pairs)
    yes = reliability * share + (1 - reliability) * (1 - share)  # chance that the answer is "first"
    after_yes = (reliability * both + (1 - reliability) * (share - both)) / yes[:, None]
    after_no = (share - yes[:, None] * after_yes) / (1 - yes)[:, None]
    reached = yes * np.abs(after_yes - 0.5).sum(1) + (1 - yes) * np.abs(after_no - 0.5).sum(1)
    found: FloatArray = reached - np.abs(share - 0.5).sum()
    return found
