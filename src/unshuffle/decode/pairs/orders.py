"""The distribution over orders that pair probabilities define: an order weighs the product of its pairs' chances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from unshuffle.decode.search import TensorPrefix
from unshuffle.rank.kemeny import LARGEST, subset_gains
from unshuffle.rank.ranking import FloatArray, log_weights


class OrderDistribution:
    """Probability of any order, choice by choice.

    Exact by dynamic programming over subsets where Kemeny's rule is (its maximum becomes a sum). Beyond, each next
    sentence is drawn by the product of its chances to precede all that are left, whatever their order.
    """

    def __init__(self, probability: FloatArray) -> None:
        self.weight = log_weights(probability)
        self._to_come = _sums(self.weight) if len(probability) <= LARGEST else None

    def choices(self, order: Sequence[int]) -> FloatArray:
        """(sentences,) log-probability of each choice of an order."""
        arranged = self.weight[np.ix_(order, order)]
        if self._to_come is not None:
            gain = np.triu(arranged, 1).sum(0)  # of each choice, over those chosen before
            prefix = np.concatenate([[0], (1 << np.asarray(order, np.int64)).cumsum()])
            chosen: FloatArray = gain + self._to_come[prefix[1:]] - self._to_come[prefix[:-1]]
            return chosen
        left = arranged[:, ::-1].cumsum(1)[:, ::-1]  # (candidates, steps) over the sentences from each step on
        early = np.tri(len(order), k=-1, dtype=bool).T  # chosen before that step
        logits = np.where(early, -np.inf, left)
        approximate: FloatArray = logits.diagonal() - _log_sum(logits.T)
        return approximate

    def log_probability(self, order: Sequence[int]) -> float:
        """Of a whole order."""
        return float(self.choices(order).sum())


def _sums(weight: FloatArray) -> FloatArray:
    """(subsets,) log of the summed weights of all continuations once a subset has been chosen."""
    sentences = len(weight)
    gain = subset_gains(weight)
    bits = 1 << np.arange(sentences)
    member = (np.arange(1 << sentences)[:, None] & bits) > 0
    size = member.sum(1)
    sums = np.zeros(1 << sentences)
    for chosen in range(sentences - 1, -1, -1):
        layer = np.flatnonzero(size == chosen)
        ways = gain[layer] + sums[layer[:, None] | bits]
        sums[layer] = _log_sum(np.where(member[layer], -np.inf, ways))
    return sums


def _log_sum(rows: FloatArray) -> FloatArray:
    highest = rows.max(1)
    total: FloatArray = highest + np.log(np.exp(rows - highest[:, None]).sum(1))
    return total


class PairMemory:
    """A beam search's memory for long documents: each sentence's log chance to precede all that are left."""

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight  # (documents, longest, longest), 0 on the diagonal and where there is no sentence

    def begin(self) -> Tensor:
        """All sentences are left."""
        return self.weight.sum(2)

    def advance(self, carry: Tensor, parent: Tensor, document: Tensor, choice: Tensor) -> Tensor:
        """One sentence fewer is left."""
        return carry[parent] - self.weight.transpose(1, 2)[document, choice]

    def logits(self, carry: Tensor, prefix: TensorPrefix) -> Tensor:
        """(rows, longest)."""
        return carry
