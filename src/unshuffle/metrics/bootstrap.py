"""Is one system better than another, or is it luck: resampling whole documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unshuffle.errors import ConfigError, DataError
from unshuffle.metrics.summary import OrderPair

FloatArray = NDArray[np.float64]

BLOCK = 2_000_000
"""Documents drawn at a time, so that large corpora do not fill the memory."""


@dataclass(frozen=True, slots=True)
class Band:
    """A metric's value and the interval that holds the given share of resampled values."""

    value: float
    lower: float
    upper: float
    level: float
    draws: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much the first system is ahead of the second on the same documents."""

    difference: float
    lower: float
    upper: float
    p_value: float
    """Two-sided: how often no real difference would show one as large as this."""
    level: float
    draws: int


def document_values(pairs: Iterable[OrderPair], metric: Callable[[Sequence[int], Sequence[int]], float]) -> FloatArray:
    """A metric's value for each document."""
    return np.array([metric(pair.aligned(), pair.gold) for pair in pairs], dtype=np.float64)


def bootstrap_band(
    values: ArrayLike,
    generator: np.random.Generator,
    *,
    weights: ArrayLike | None = None,
    draws: int = 10_000,
    level: float = 0.95,
) -> Band:
    """Interval of a mean over documents; weights (sentences a document) make it a micro average."""
    value, weight = _checked(values, weights, draws, level)
    means = np.concatenate(list(_resampled(value, weight, generator, draws)))
    lower, upper = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Band(_mean(value, weight), float(lower), float(upper), level, draws)


def paired_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    generator: np.random.Generator,
    *,
    weights: ArrayLike | None = None,
    draws: int = 10_000,
    level: float = 0.95,
) -> Comparison:
    """Compares two systems by their values on the same documents, drawn together."""
    ahead, behind = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if ahead.shape != behind.shape:
        raise DataError(f"bootstrap: {ahead.size} documents against {behind.size}. Score the same ones.")
    value, weight = _checked(ahead - behind, weights, draws, level)
    difference = _mean(value, weight)
    means = np.concatenate(list(_resampled(value, weight, generator, draws)))
    lower, upper = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    # Moved to a mean of zero, the resampled differences are what chance alone would show; rounding must not hide a tie.
    by_chance = np.abs(means - difference) >= abs(difference) - 1e-12
    p_value = (1 + int(by_chance.sum())) / (draws + 1)
    return Comparison(difference, float(lower), float(upper), p_value, level, draws)


def _mean(value: FloatArray, weight: FloatArray) -> float:
    return float((value * weight).sum() / weight.sum())


def _resampled(
    value: FloatArray, weight: FloatArray, generator: np.random.Generator, draws: int
) -> Iterator[FloatArray]:
    documents = len(value)
    block = max(1, BLOCK // documents)
    weighted = value * weight
    for start in range(0, draws, block):
        drawn = generator.integers(0, documents, (min(block, draws - start), documents))
        yield weighted[drawn].sum(1) / weight[drawn].sum(1)


def _checked(values: ArrayLike, weights: ArrayLike | None, draws: int, level: float) -> tuple[FloatArray, FloatArray]:
    value = np.asarray(values, dtype=np.float64)
    weight = np.ones_like(value) if weights is None else np.asarray(weights, dtype=np.float64)
    if value.ndim != 1 or not len(value) or not np.isfinite(value).all():
        raise DataError("bootstrap: the values are not one finite number per document. Give a list of numbers.")
    if weight.shape != value.shape or not ((weight > 0) & np.isfinite(weight)).all():
        raise DataError("bootstrap: the weights are not one positive number per document. Give as many as documents.")
    if draws < 1 or not 0 < level < 1:
        raise ConfigError(f"bootstrap: draws {draws} and level {level} cannot be. Give draws >= 1 and 0 < level < 1.")
    return value, weight
