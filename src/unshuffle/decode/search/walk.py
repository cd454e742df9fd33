"""Many orders of one document, scored step by step; shared prefixes are read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshuffle.decode.contracts import Choices, Decoder
from unshuffle.decode.search.beam import Memory, Prefix
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch

CELLS = 2_000
"""Orders times sentences scored at once."""


class Stepwise(Decoder):
    """A decoder that chooses one sentence after the other from what it knows of a batch."""

    def memory(self, states: States, graph: GraphBatch) -> Memory[Any]:
        """Everything that does not depend on what has been chosen."""
        raise NotImplementedError

    def choices(self, states: States, graph: GraphBatch) -> Choices:
        """Scores many orders at once from one memory."""
        memory, size = self.memory(states, graph), graph.sentences

        def scored(orders: Sequence[Sequence[int]]) -> NDArray[np.float64]:
            rows, together = np.zeros((len(orders), size)), max(1, CELLS // size)
            for start in range(0, len(orders), together):
                some = torch.tensor(orders[start : start + together], device=graph.sizes.device)
                rows[start : start + together] = choices_along(memory, some).cpu().double().numpy()
            return rows

        return scored


def choices_along(memory: Memory[Any], orders: Tensor) -> Tensor:
    """(orders, sentences) orders of the batch's only document -> log-probability of each of their choices."""
    count, size = orders.shape
    by_text = torch.tensor(sorted(range(count), key=orders.tolist().__getitem__), device=orders.device)
    orders = orders[by_text]  # equal prefixes are now adjacent
    rows = torch.arange(count, device=orders.device)
    differs = (orders[1:] != orders[:-1]).cumsum(1) > 0  # (orders - 1, sentences) from the order before, up to here
    found = torch.zeros(count, size, device=orders.device)
    which = torch.zeros_like(rows)  # prefix of each order
    begun = torch.zeros(1, dtype=torch.long, device=orders.device)  # an order of each prefix
    carry = memory.begin()
    for step in range(size - 1):  # the last sentence is the one that is left
        chosen = orders[begun, :step]
        used = torch.zeros(len(begun), size, dtype=torch.bool, device=orders.device).scatter_(1, chosen, True)
        document = torch.zeros_like(begun)
        prefix = Prefix(document, used, chosen, torch.zeros(len(begun), device=orders.device))
        likely = torch.log_softmax(memory.logits(carry, prefix).masked_fill(used, -torch.inf), 1)
        found[:, step] = likely[which, orders[:, step]]
        if step == size - 2:
            break
        first = torch.cat([torch.ones_like(differs[:1, step]), differs[:, step]]) if count > 1 else rows == 0
        begun = rows[first]
        carry = memory.advance(carry, which[begun], torch.zeros_like(begun), orders[begun, step])
        which = first.cumsum(0) - 1
    return torch.empty_like(found).index_copy_(0, by_text, found)
