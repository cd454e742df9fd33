"""Sentences of the same text: orders that differ in them alone read alike, so the search looks at one of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshuffle.rank.constraints import Constraints

Groups = tuple[tuple[int, ...], ...]
"""Sentences of a document that may stand for each other, each group in input order."""


def interchangeable(texts: Sequence[str], constraints: Constraints | None = None) -> Groups:
    """Copies of one text; a copy that a constraint names stands for itself alone."""
    same: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        same.setdefault(text, []).append(number)
    if len(same) == len(texts):
        return ()
    named = np.zeros(len(texts), np.bool_) if constraints is None else constraints.rules(len(texts)).named
    free = (tuple(number for number in group if not named[number]) for group in same.values())
    return tuple(group for group in free if len(group) > 1)


def in_turn(order: Sequence[int], groups: Groups) -> tuple[int, ...]:
    """The same text with the copies of each group in input order."""
    numbers = list(order)
    for group in groups:
        positions = sorted(numbers.index(number) for number in group)
        for position, number in zip(positions, group, strict=True):
            numbers[position] = number
    return tuple(numbers)


def log_orders(groups: Groups) -> float:
    """Logarithm of how many orders read like any one of them."""
    return sum(math.lgamma(len(group) + 1) for group in groups)


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies in a batch, as the beam search reads them."""

    earlier: NDArray[np.int64]  # (documents, longest) the copy whose turn is just before a sentence's; -1 for none
    log_left: NDArray[np.float64]  # (documents, longest) logarithm of how many copies are left when its turn comes

    @classmethod
    def of(cls, documents: Sequence[Groups], longest: int) -> Copies | None:
        """None where no document has any."""
        if not any(documents):
            return None
        earlier = np.full((len(documents), longest), -1, np.int64)
        log_left = np.zeros((len(documents), longest))
        for document, groups in enumerate(documents):
            for group in groups:
                earlier[document, group[1:]] = group[:-1]
                log_left[document, group] = np.log(np.arange(len(group), 0, -1))
        return cls(earlier, log_left)

    def alone(self, document: int, size: int) -> Copies:
        """Those of one document."""
        return Copies(self.earlier[document, None, :size], self.log_left[document, None, :size])

    def gains(self, document: NDArray[np.int64], used: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(rows,), (rows, longest) chosen -> (rows, longest) `log_left`, and -inf before a copy's turn."""
        earlier = self.earlier[document]
        early = (earlier >= 0) & ~np.take_along_axis(used, np.maximum(earlier, 0), 1)
        return np.where(early, -np.inf, self.log_left[document])

    def pairs(self, document: int) -> tuple[tuple[int, int], ...]:
        """Neighbours in turn, for rankers that know precedences only."""
        return tuple((first, second) for second, first in enumerate(self.earlier[document].tolist()) if first >= 0)
