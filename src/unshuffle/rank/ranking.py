"""What a ranker takes and gives: pair probabilities in, an order and its score out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unshuffle.errors import DataError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

CLIP = 1e-6
"""Probabilities are clipped this far from 0 and 1, so that one confident mistake cannot outweigh all other pairs."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """An order and how well it agrees with what it was made from."""

    order: tuple[int, ...]
    """Input indices in reading order."""
    score: float
    """From pair probabilities: the sum of log p over all pairs, earlier sentence first; higher is better."""


def checked(probability: ArrayLike) -> FloatArray:
    """A square matrix of chances that row comes before column, its diagonal 0.5."""
    matrix = np.array(probability, dtype=np.float64)
    if matrix.size == 0:
        return np.zeros((0, 0))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"rank: pair probabilities have shape {matrix.shape}. Give one row and column per sentence.")
    np.fill_diagonal(matrix, 0.5)  # no sentence comes before itself, whatever was written there
    if not ((matrix >= 0) & (matrix <= 1)).all():  # also refuses nan
        first, second = np.argwhere(~((matrix >= 0) & (matrix <= 1)))[0]
        value = matrix[first, second]
        raise DataError(f"rank: the probability of {first} before {second} is {value}. Give numbers from 0 to 1.")
    return matrix


def two_sided(raw: ArrayLike) -> FloatArray:
    """The average of p(i before j) and 1 - p(j before i), so that both directions agree."""
    matrix = checked(raw)
    return 0.5 + 0.5 * (matrix - matrix.T)


def log_weights(probability: FloatArray) -> FloatArray:
    """What putting row before column adds to an order's score."""
    weight = np.log(np.clip(probability, CLIP, 1 - CLIP))
    np.fill_diagonal(weight, 0.0)
    return weight


def order_score(weight: FloatArray, order: Sequence[int]) -> float:
    """The weights of all pairs of an order, earlier sentence first."""
    arranged = weight[np.ix_(order, order)]
    return float(np.triu(arranged, 1).sum())
