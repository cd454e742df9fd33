"""How probable it is that one sentence comes before another: from the orders found, made to agree with confidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SUREST = 0.99
"""Shares among the orders found are cut here, since orders that were never found cannot disagree."""
STEPS = 60
"""Halvings in the search for the scale; the last ones change nothing."""
STEEPEST = 50.0


def pair_shares(orders: Sequence[Sequence[int]], log_probabilities: Sequence[float]) -> FloatArray:
    """(sentences, sentences) how often the row's sentence precedes the column's, orders weighed by probability."""
    size = len(orders[0])
    weight = np.exp(np.array(log_probabilities) - max(log_probabilities))
    weight /= weight.sum()
    shares = np.zeros((size, size))
    for share, order in zip(weight, orders, strict=True):  # one at a time: 64 orders of 500 would be 128 MB
        place = np.argsort(order)
        shares += share * (place[:, None] < place)
    return np.minimum(shares, 1.0)


def agreement(order: Sequence[int], shares: FloatArray) -> float:
    """Mean share of the pairs as the order has them; 1 for a single sentence."""
    if len(order) < 2:
        return 1.0
    first, second = _pairs_of(order)
    return float(shares[first, second].mean())


def agreeing(order: Sequence[int], shares: FloatArray, confidence: float, distance: float) -> FloatArray:
    """(sentences, sentences) pair probabilities whose mean, as the order has the pairs, is the confidence.

    Log-odds of the shares, plus `distance` times the logarithm of how far apart the order has a pair, are scaled by
    one number per document. Sentences far apart are less often the wrong way round than neighbours.
    """
    first, second = _pairs_of(order)
    evidence = pair_evidence(order, shares, distance)
    chance = scaled(evidence, confidence)
    found = np.full(shares.shape, 0.5)
    found[first, second], found[second, first] = chance, 1 - chance
    return found


def pair_evidence(order: Sequence[int], shares: FloatArray, distance: float) -> FloatArray:
    """(pairs,) in the order of `_pairs_of`: log-odds that the order has each pair the right way round."""
    first, second = _pairs_of(order)
    share = np.clip(shares[first, second], 1 - SUREST, SUREST)
    place = np.argsort(order)
    evidence: FloatArray = np.log(share / (1 - share)) + distance * np.log(place[second] - place[first])
    return evidence


def scaled(evidence: FloatArray, confidence: float) -> FloatArray:
    """The chances of log-odds times the one scale, at least 0, that makes their mean the confidence."""
    low, high = 0.0, STEEPEST
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _chance(middle * evidence).mean() < confidence else (low, middle)
    return _chance(low * evidence)


def _pairs_of(order: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every pair as the order has it: the earlier sentence and the later one."""
    numbers = np.asarray(order)
    first, second = np.triu_indices(len(numbers), 1)
    return numbers[first], numbers[second]


def _chance(odds: FloatArray) -> FloatArray:
    chance: FloatArray = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return chance
