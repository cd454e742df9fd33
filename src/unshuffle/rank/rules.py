"""Constraints prepared for search: what must precede what, and the range of places of each sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unshuffle.rank.ranking import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What an order must satisfy; built by `Constraints.rules`, which makes sure that some order does."""

    required: BoolArray
    """(sentences, sentences) whether row must come before column, chains included."""
    earliest: IntArray
    latest: IntArray
    """First and last place of each sentence; a sentence's range starts and ends after those of the sentences it must
    follow."""
    anchored: BoolArray
    """Places whose sentence is fixed."""

    @classmethod
    def free(cls, sentences: int) -> Rules:
        """No rule at all."""
        return cls(
            required=np.zeros((sentences, sentences), dtype=np.bool_),
            earliest=np.zeros(sentences, dtype=np.intp),
            latest=np.full(sentences, sentences - 1, dtype=np.intp),
            anchored=np.zeros(sentences, dtype=np.bool_),
        )

    @property
    def bind(self) -> bool:
        """Whether there is any rule."""
        return bool(self.required.any() or self.anchored.any())

    def relabelled(self, labels: IntArray) -> Rules:
        """The same rules where sentence `labels[k]` is called k."""
        required = self.required[np.ix_(labels, labels)]
        return Rules(required, self.earliest[labels], self.latest[labels], self.anchored)

    def allowed(self, used: BoolArray) -> BoolArray:
        """(..., sentences) used in a prefix -> (..., sentences) which may follow such that an order can be completed.

        Of unit jobs with windows, a set can be done in time if no deadline has more open jobs than places before it
        (windows that start later were checked once and do not change); predecessors first then costs nothing.
        """
        left = ~used
        place = used.sum(-1, keepdims=True)  # (..., 1)
        waiting = left.astype(np.int64) @ self.required.astype(np.int64)  # (..., sentences)
        may: BoolArray = left & (waiting == 0) & (self.earliest <= place)
        if self.anchored.any():
            for deadline in np.unique(self.latest):
                due = self.latest <= deadline
                open_jobs = (left & due).sum(-1, keepdims=True) - due  # after each choice
                may &= open_jobs <= np.maximum(deadline - place, 0)
        return may

    def nearest(self, wanted: Sequence[int]) -> list[int]:
        """The order that puts at each place the first sentence of the wanted order that is allowed there."""
        if not self.bind:
            return [int(sentence) for sentence in wanted]
        used = np.zeros(len(self.earliest), dtype=np.bool_)
        order: list[int] = []
        for _ in wanted:
            may = self.allowed(used)
            order.append(next(int(sentence) for sentence in wanted if may[sentence]))
            used[order[-1]] = True
        return order
