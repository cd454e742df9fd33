"""The order that agrees best with all pair probabilities, exactly, by dynamic programming over subsets."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unshuffle.errors import ConfigError
from unshuffle.rank.arrange import Arranged, arrange
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.ranking import BoolArray, FloatArray, Ranking

LARGEST = 14
"""Sentences up to which all subsets are visited."""


def by_kemeny(
    probability: ArrayLike,
    *,
    constraints: Constraints | None = None,
    tie_key: ArrayLike | None = None,
) -> Ranking:
    """The order with the highest sum of log p over all pairs (Kemeny's rule), for up to 14 sentences."""
    return best_by_kemeny(probability, 1, constraints=constraints, tie_key=tie_key)[0]


def best_by_kemeny(
    probability: ArrayLike,
    count: int,
    *,
    constraints: Constraints | None = None,
    tie_key: ArrayLike | None = None,
) -> tuple[Ranking, ...]:
    """The `count` best orders, best first; fewer where there are fewer."""
    task = arrange(probability, constraints, tie_key)
    if len(task) > LARGEST:
        raise ConfigError(f"kemeny: {len(task)} sentences are more than {LARGEST}. Use method 'eades'.")
    if count < 1:
        raise ConfigError(f"kemeny: {count} orders were asked for. Ask for at least one.")
    return tuple(task.ranking(order) for order in _search(task, count))


@lru_cache(maxsize=LARGEST + 1)
def _subsets(sentences: int) -> tuple[BoolArray, tuple[NDArray[np.int64], ...]]:
    """(subsets, sentences) who is in each subset, and the subsets of each size."""
    masks = np.arange(1 << sentences)
    member = (masks[:, None] >> np.arange(sentences) & 1).astype(np.bool_)
    size = member.sum(1)
    return member, tuple(np.flatnonzero(size == wanted) for wanted in range(sentences + 1))


def subset_gains(weight: FloatArray) -> FloatArray:
    """(subsets, sentences) what a sentence adds when it follows all of a subset."""
    sentences = len(weight)
    gain = np.zeros((1 << sentences, sentences))
    for sentence in range(sentences):
        half = 1 << sentence
        gain[half : 2 * half] = gain[:half] + weight[sentence]
    return gain


def _search(task: Arranged, count: int) -> list[list[int]]:
    """Fills, subset by growing subset, the best orders of its sentences, and reads the whole set's back."""
    sentences = len(task)
    member, layers = _subsets(sentences)
    gain = subset_gains(task.weight)
    if task.rules.bind:
        gain[~task.rules.allowed(member)] = -np.inf
    best = np.full((1 << sentences, count), -np.inf)
    best[0, 0] = 0.0
    choice = np.zeros((1 << sentences, count), dtype=np.int64)  # last sentence * count + rank of the order before it
    # Later labels first, so that among equal orders the one is kept that ends with the later label.
    last = np.arange(sentences)[::-1]
    for masks in layers[1:]:
        previous = masks[:, None] ^ (1 << last)  # (masks, sentences)
        reached = best[previous] + gain[previous, last][..., None]  # (masks, sentences, count)
        reached[~member[masks][:, last]] = -np.inf
        flat = reached.reshape(len(masks), -1)
        top = flat.argmax(1)[:, None] if count == 1 else np.argsort(-flat, axis=1, kind="stable")[:, :count]
        kept = top.shape[1]
        best[masks, :kept] = np.take_along_axis(flat, top, 1)
        choice[masks, :kept] = last[top // count] * count + top % count
    whole = (1 << sentences) - 1
    return [_read_back(choice, count, whole, rank) for rank in range(count) if best[whole, rank] > -np.inf]


def _read_back(choice: NDArray[np.int64], count: int, mask: int, rank: int) -> list[int]:
    order: list[int] = []
    while mask:
        sentence, rank = divmod(int(choice[mask, rank]), count)
        order.append(sentence)
        mask ^= 1 << sentence
    return order[::-1]
