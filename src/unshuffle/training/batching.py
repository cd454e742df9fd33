"""Random batches of documents whose longest sentences are alike, so that few steps are taken for a single sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unshuffle.graph.prepare import Item

GROUP = 20
"""Batches that are drawn together and sorted among themselves."""


def epoch_batches(items: Sequence[Item], teach: Sequence[int], size: int, seed: int) -> list[list[int]]:
    """Numbers of the documents of each step of one epoch; every document of `teach` once, decided by the seed alone.

    Documents are permuted, cut into groups of some batches, sorted by longest sentence within a group, and the batches
    are permuted again: what meets in a batch changes from epoch to epoch, and short and long batches alternate.
    """
    draw = np.random.default_rng(seed)
    order = draw.permutation(np.asarray(teach, np.int64)).tolist()
    batches = []
    for start in range(0, len(order), GROUP * size):
        group = sorted(order[start : start + GROUP * size], key=lambda number: _longest(items[number]))
        batches += [group[first : first + size] for first in range(0, len(group), size)]
    return [batches[number] for number in draw.permutation(len(batches)).tolist()]


def _longest(item: Item) -> int:
    return max(map(len, item.words))
