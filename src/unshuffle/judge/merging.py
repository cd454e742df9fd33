"""Which pairs to ask about when there is no model to say: first those a merge sort needs, then doubtful neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unshuffle.rank.borda import row_sums
from unshuffle.rank.ranking import FloatArray
from unshuffle.rank.topological import widest_paths

Ask = Callable[[Sequence[tuple[int, int]]], Sequence[float]]
"""Pairs to chances that the first comes first; fewer answers than pairs where the budget ends."""


class Questions:
    """The answers so far on one document's pairs, whose sentences are numbered by content."""

    def __init__(self, sentences: int, answers: Ask) -> None:
        self._answers = answers
        self.probability: FloatArray = np.full((sentences, sentences), 0.5)
        self.asked = np.eye(sentences, dtype=np.bool_)

    def __len__(self) -> int:
        """How many sentences there are."""
        return len(self.probability)

    def ask(self, pairs: Sequence[tuple[int, int]]) -> bool:
        """Asks about those pairs that were not asked yet; False where the budget does not allow all of them."""
        fresh = [pair for pair in pairs if not self.asked[pair]]
        answers = self._answers(fresh) if fresh else ()
        for (first, second), answer in zip(fresh, answers, strict=False):
            self.probability[first, second], self.probability[second, first] = answer, 1 - answer
            self.asked[first, second] = self.asked[second, first] = True
        return len(answers) == len(fresh)

    def ask_all(self) -> None:
        """Every pair."""
        self.ask([(first, second) for first in range(len(self)) for second in range(first + 1, len(self))])

    def ask_by_merging(self) -> list[int]:
        """The pairs a merge sort compares, about n log n; where the budget ends, the rest stays as it is."""
        runs = [[sentence] for sentence in range(len(self))]
        while len(runs) > 1:
            merged = [self._merged(*runs[at : at + 2]) for at in range(0, len(runs) - 1, 2)]
            runs = merged + runs[2 * len(merged) :]
        return runs[0] if runs else []

    def ask_neighbours(self) -> None:
        """As long as the budget lasts: pairs not asked yet, nearest in the current order first, most doubtful first."""
        while not self.asked.all():
            current = self.inferred()
            order = np.argsort(-row_sums(current), kind="stable")
            asked = self.asked[np.ix_(order, order)]
            distance = next(gap for gap in range(1, len(self)) if not np.diag(asked, gap).all())
            doubtful = [(int(order[at]), int(order[at + distance])) for at in np.flatnonzero(~np.diag(asked, distance))]
            doubtful.sort(key=lambda pair: (abs(current[pair] - 0.5), min(pair), max(pair)))
            # Asked as a batch: the order is recomputed once these neighbours are known.
            if not self.ask(doubtful):
                return

    def inferred(self) -> FloatArray:
        """The answers, and for pairs not asked the best chain of answers one way less the best the other way."""
        chain = widest_paths(np.maximum(self.probability - 0.5, 0.0))
        return np.where(self.asked, self.probability, np.clip(0.5 + chain - chain.T, 0.0, 1.0))

    def _merged(self, left: list[int], right: list[int]) -> list[int]:
        merged: list[int] = []
        left, right = left[::-1], right[::-1]
        while left and right:
            self.ask([(left[-1], right[-1])])
            first = self.probability[left[-1], right[-1]] >= 0.5
            merged.append((left if first else right).pop())
        return merged + left[::-1] + right[::-1]
