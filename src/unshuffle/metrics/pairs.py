"""How good and how well calibrated decisions on pairs of sentences are (Lai et al., 5.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unshuffle.errors import ConfigError, DataError

FloatArray = NDArray[np.float64]

DIGITS = 12


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Pairs of like probability, and how often their first sentence did come first."""

    lower: float
    upper: float
    probability: float
    """Mean of the predicted probabilities; the bin's middle where it is empty."""
    frequency: float
    """Share of pairs whose first sentence comes first; 0 where the bin is empty."""
    pairs: int


@dataclass(frozen=True, slots=True)
class PairCalibration:
    """Expected calibration error, from 0 to 1, and the bins of its reliability diagram."""

    error: float
    bins: tuple[ReliabilityBin, ...]


def two_sided_pairs(forward: ArrayLike, backward: ArrayLike) -> FloatArray:
    """One probability per pair from p(a before b) and p(b before a); exactly 0.5 where both say the same."""
    return 0.5 + 0.5 * (_probabilities(forward) - _probabilities(backward))


def pairwise_accuracy(forward: ArrayLike, truth: ArrayLike, backward: ArrayLike | None = None) -> float:
    """Share of right decisions, one per linked pair, ties counting half.

    `forward` is the chance that a pair's first sentence comes first, `truth` whether it does. With `backward`, the
    chance asked for the pair the other way round, a decision rests on both, so that a constant classifier scores
    50 %; without it `forward` must be two-sided already.
    """
    probability = _probabilities(forward) if backward is None else two_sided_pairs(forward, backward)
    first = _truths(truth, probability)
    return float(np.where(probability == 0.5, 0.5, (probability > 0.5) == (first == 1)).mean())


def brier(probability: ArrayLike, truth: ArrayLike) -> float:
    """Mean squared distance of the probabilities from what is the case."""
    given = _probabilities(probability)
    return float(np.square(given - _truths(truth, given)).mean())


def calibration(
    probability: ArrayLike,
    truth: ArrayLike,
    *,
    bins: int = 10,
    equal_mass: bool = False,
    both_sides: bool = True,
) -> PairCalibration:
    """Expected calibration error over bins of equal width, or of equally many pairs.

    Each pair is counted from both sides, as (p, t) and (1 - p, 1 - t), unless told not to: which sentence of a pair is
    called the first must not change the result, least of all where it is always the one that comes first.
    """
    if bins < 1:
        raise ConfigError(f"calibration: bins is {bins}. Ask for at least one.")
    given = _probabilities(probability)
    first = _truths(truth, given)
    if both_sides:
        given, first = np.concatenate([given, 1 - given]), np.concatenate([first, 1 - first])
    edges = np.linspace(0, 1, bins + 1)
    if equal_mass:
        # Equal probabilities share a bin: a cut through them would make the result depend on the pairs' order.
        edges = np.unique(np.quantile(given, edges))
        edges[0], edges[-1] = 0.0, 1.0
        edges = edges if len(edges) > 1 else np.array([0.0, 1.0])
    # Rounded, since 1 - 0.7 is not quite 0.3 and would fall into another bin than 0.3 does.
    member = np.searchsorted(np.round(edges[1:-1], DIGITS), np.round(given, DIGITS), side="right")
    rows = tuple(
        _bin(edges[at], edges[at + 1], given[member == at], first[member == at]) for at in range(len(edges) - 1)
    )
    error = sum(row.pairs * abs(row.probability - row.frequency) for row in rows) / len(given)
    return PairCalibration(error=error, bins=rows)


def _bin(lower: float, upper: float, probability: FloatArray, first: FloatArray) -> ReliabilityBin:
    empty = len(probability) == 0
    return ReliabilityBin(
        lower=float(lower),
        upper=float(upper),
        probability=float((lower + upper) / 2 if empty else probability.mean()),
        frequency=0.0 if empty else float(first.mean()),
        pairs=len(probability),
    )


def _probabilities(given: ArrayLike) -> FloatArray:
    values = np.asarray(given, dtype=np.float64).reshape(-1)
    if not len(values):
        raise DataError("pairs: there is no pair. Give at least one.")
    if not ((values >= 0) & (values <= 1)).all():  # also refuses nan
        raise DataError("pairs: a probability is not between 0 and 1. Give probabilities, not scores.")
    return values


def _truths(given: ArrayLike, probability: FloatArray) -> FloatArray:
    values = np.asarray(given, dtype=np.float64).reshape(-1)
    if values.shape != probability.shape:
        raise DataError(f"pairs: {len(values)} truths for {len(probability)} probabilities. Give one per pair.")
    if not np.isin(values, (0.0, 1.0)).all():
        raise DataError("pairs: a truth is neither 0 nor 1. Say for each pair whether its first sentence comes first.")
    return values
