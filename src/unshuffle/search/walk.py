"""Many given orders of one document, scored step by step; beginnings that they share are read once."""

from __future__ import annotations

from typing import Any

import numpy as np

from unshuffle.search.beam import log_softmax
from unshuffle.search.contracts import Floats, Ints, Memory, Prefix


def score_orders(memory: Memory[Any], orders: Ints) -> Floats:
    """(orders, sentences) orders of the batch's only document -> log-probability of each of their choices."""
    count, size = orders.shape
    by_beginning = np.lexsort(orders.T[::-1])
    orders = orders[by_beginning]  # equal beginnings now stand together
    rows = np.arange(count)
    differs = (orders[1:] != orders[:-1]).cumsum(1) > 0  # (orders - 1, sentences) from the order before, up to here
    scores = np.zeros((count, size))
    which = np.zeros(count, np.int64)  # which beginning an order has
    begun = np.zeros(1, np.int64)  # one order of each beginning
    carry = memory.begin()
    for step in range(size - 1):  # the last sentence is the one that is left
        chosen = orders[begun, :step]
        used = np.zeros((len(begun), size), np.bool_)
        np.put_along_axis(used, chosen, True, 1)
        prefix = Prefix(np.zeros_like(begun), used, chosen, np.zeros(len(begun)))
        likely = log_softmax(np.where(used, -np.inf, memory.logits(carry, prefix)))
        scores[:, step] = likely[which, orders[:, step]]
        if step == size - 2:
            break
        first = np.concatenate([[True], differs[:, step]]) if count > 1 else rows == 0
        begun = rows[first]
        carry = memory.advance(carry, which[begun], np.zeros_like(begun), orders[begun, step])
        which = first.cumsum() - 1
    unsorted = np.empty_like(scores)
    unsorted[by_beginning] = scores
    return unsorted
