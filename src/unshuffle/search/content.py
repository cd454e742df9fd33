"""Telling sentences apart by what they are, so that ties never fall by where a sentence stood in the input."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unshuffle.search.contracts import Floats, Ints

GOLDEN = (5**0.5 - 1) / 2


def content_keys(*vectors: NDArray[np.floating]) -> Floats:
    """(sentences, width) each -> (sentences,) a number that depends on a sentence's vectors alone."""
    rows = np.concatenate(vectors, 1).astype(np.float64)
    keys: Floats = rows @ np.cos(np.arange(1, rows.shape[1] + 1) * GOLDEN)
    return keys


def content_ranks(keys: Floats, sizes: Ints) -> Ints:
    """(sentences,) -> (documents, longest) each sentence's rank among its document's by key; equal ones draw lots.

    The lot mixes the position with the document's keys: input order could be the true order and must not decide.
    """
    documents, longest = len(sizes), int(sizes.max())
    table = np.zeros((documents, longest))
    table[np.arange(longest) < sizes[:, None]] = keys
    position = np.arange(longest)
    lot = 43758.5453 * np.sin(12.9898 * (position + 1) + 78.233 * table.sum(1, keepdims=True))
    drawn = (lot - np.trunc(lot)).argsort(1, kind="stable")
    by_key = np.take_along_axis(table, drawn, 1).argsort(1, kind="stable")
    ranks: Ints = np.take_along_axis(drawn, by_key, 1).argsort(1)
    return ranks
