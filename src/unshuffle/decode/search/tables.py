"""Scores that do not depend on what was chosen before: one table for the whole search."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from unshuffle.decode.search.beam import TensorPrefix
from unshuffle.search.contracts import Found


class TableMemory:
    """The memory of a beam search as a table of scores; a single row serves every step."""

    def __init__(self, table: Tensor) -> None:
        self.table = table  # (documents, longest or 1, longest)

    def begin(self) -> None:
        """Nothing is carried."""

    def advance(self, carry: None, parent: Tensor, document: Tensor, choice: Tensor) -> None:
        """Nothing changes."""

    def logits(self, carry: None, prefix: TensorPrefix) -> Tensor:
        """(rows, longest)."""
        step = min(prefix.chosen.shape[1], self.table.shape[1] - 1)
        return self.table[prefix.document, step]


def order_log_probability(table: Tensor, order: Sequence[int]) -> float:
    """Of one order when each sentence is drawn by the softmax, in its step's row, of those not drawn before."""
    steps = torch.arange(len(order), device=table.device)
    drawn = table[steps if len(table) > 1 else torch.zeros_like(steps)][:, list(order)]  # (steps, places)
    left = torch.logsumexp(drawn.masked_fill(steps < steps[:, None], -torch.inf), 1)
    return float((drawn.diagonal() - left).sum().detach())


def with_first(order: tuple[int, ...], log_probability: float, others: Found | None, keep: int) -> Found:
    """One order first, then others that differ from it."""
    orders, values = [order], [log_probability]
    if others is not None:
        for other, value in zip(others.orders, others.log_probabilities, strict=True):
            if other != order and len(orders) < keep:
                orders.append(other)
                values.append(value)
    return Found(tuple(orders), tuple(values))
