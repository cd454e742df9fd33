"""The distribution over all orders that pair probabilities span: an order weighs the product of its pairs'.

Exact by dynamic programming over subsets where Kemeny's rule is (the maximum becomes a sum); beyond, each next sentence
is drawn by the product of its chances to precede all others that are left, which is the same but for the orders of the
rest.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import logsumexp
from torch import Tensor

from unshuffle.decode.beam import Prefix
from unshuffle.rank.kemeny import LARGEST
from unshuffle.rank.ranking import FloatArray


def choice_log_probabilities(weight: FloatArray, order: list[int]) -> FloatArray:
    """(sentences,) log-probability of each choice of an order; `weight[i, j]`: log chance that i precedes j."""
    if len(order) <= LARGEST:
        return _exact(weight, order)
    left = list(order)
    chosen = []
    for _ in order:
        rows = weight[np.ix_(left, left)].sum(1)  # the diagonal is 0
        chosen.append(rows[0] - logsumexp(rows))
        left.pop(0)
    return np.array(chosen)


def _exact(weight: FloatArray, order: list[int]) -> FloatArray:
    sentences = len(order)
    to_come = _sums(weight[np.ix_(order, order)])
    arranged = weight[np.ix_(order, order)]
    gain = np.triu(arranged, 1).sum(0)  # of each choice, over those chosen before
    masks = (1 << np.arange(sentences + 1)) - 1  # the prefixes
    chosen: FloatArray = gain + to_come[masks[1:]] - to_come[masks[:-1]]
    return chosen


def _sums(weight: FloatArray) -> FloatArray:
    """(subsets,) log of the summed weights of all ways to go on once a subset has been chosen."""
    sentences = len(weight)
    gain = np.zeros((1 << sentences, sentences))
    for sentence in range(sentences):
        half = 1 << sentence
        gain[half : 2 * half] = gain[:half] + weight[sentence]
    masks = np.arange(1 << sentences)
    bits = 1 << np.arange(sentences)
    size = np.bitwise_count(masks) if hasattr(np, "bitwise_count") else (masks[:, None] & bits > 0).sum(1)
    sums = np.zeros(1 << sentences)
    for chosen in range(sentences - 1, -1, -1):
        layer = np.flatnonzero(size == chosen)
        used = (layer[:, None] & bits) > 0
        ways = gain[layer] + sums[layer[:, None] | bits]
        sums[layer] = logsumexp(np.where(used, -np.inf, ways), axis=1)
    return sums


class PairMemory:
    """A beam search's memory for long documents: each sentence's log chance to precede all that are left."""

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight  # (documents, longest, longest), 0 on the diagonal and where there is no sentence

    def begin(self) -> Tensor:
        """All are left."""
        return self.weight.sum(2)

    def advance(self, carry: Tensor, parent: Tensor, document: Tensor, choice: Tensor) -> Tensor:
        """One fewer is left."""
        rows = torch.arange(len(parent), device=parent.device)
        return carry[parent] - self.weight[document].transpose(1, 2)[rows, choice]

    def logits(self, carry: Tensor, prefix: Prefix) -> Tensor:
        """(rows, longest)."""
        return carry
