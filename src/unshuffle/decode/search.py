"""Beam search over a batch of tensors, and the orders of a decoder that chooses sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshuffle.decode.contracts import Choices, Decoder
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.machine import single
from unshuffle.search import beam
from unshuffle.search.contracts import Floats, Found, Ints, Prefix, Search
from unshuffle.search.walk import score_orders

State = TypeVar("State")
CELLS = 2_000
"""Orders times sentences scored at once."""


def content_keys(states: States) -> Floats:
    """(sentences,) a number that depends on a sentence's vectors alone; equal for equal sentences."""
    rows = (vectors.detach().float().cpu().numpy() for vectors in (states.encoded.sentences, states.sentences))
    return beam.content_keys(*rows)


def content_ranks(states: States, graph: GraphBatch) -> Ints:
    """(documents, longest) each sentence's rank among its document's by key."""
    return beam.content_ranks(content_keys(states), graph.sizes.cpu().numpy())


@dataclass(frozen=True, slots=True)
class TensorPrefix:
    """What has been chosen so far, one row per partial order."""

    document: Tensor  # (rows,)
    chosen: Tensor  # (rows, steps)


class TensorMemory(Protocol[State]):
    """What a step-by-step decoder knows of a batch, computed once before the search."""

    def begin(self) -> State:
        """The state before the first choice, one row per document."""
        ...

    def advance(self, carry: State, parent: Tensor, document: Tensor, choice: Tensor) -> State:
        """The state after each row's parent has chosen `choice`."""
        ...

    def logits(self, carry: State, prefix: TensorPrefix) -> Tensor:
        """(rows, longest) score of every sentence as the next one."""
        ...


class ArrayMemory(Generic[State]):
    """The same memory for a search in numpy."""

    def __init__(self, memory: TensorMemory[State], device: torch.device) -> None:
        self._memory, self._device = memory, device

    def begin(self) -> State:
        """The state before the first choice."""
        return self._memory.begin()

    def advance(self, carry: State, parent: Ints, document: Ints, choice: Ints) -> State:
        """The state after each row's parent has chosen `choice`."""
        return self._memory.advance(carry, *(self._tensor(numbers) for numbers in (parent, document, choice)))

    def logits(self, carry: State, prefix: Prefix) -> NDArray[np.floating]:
        """(rows, longest)."""
        given = TensorPrefix(self._tensor(prefix.document), self._tensor(prefix.chosen))
        logits: NDArray[np.floating] = single(self._memory.logits(carry, given).detach())[0].cpu().numpy()
        return logits

    def _tensor(self, numbers: Ints) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(numbers)).to(self._device)


def select_sentences(table: Tensor, document: Tensor, sentence: Tensor) -> Tensor:
    """`table[document, sentence]`, several times faster than indexing where rows are wide."""
    return table.flatten(0, 1).index_select(0, document * table.shape[1] + sentence)


def beam_search(
    memory: TensorMemory[State], sizes: Tensor, search: Search, content: Ints, *, normalised: bool = True
) -> list[Found]:
    """The best orders of each document; `content`: (documents, longest) ranks by which ties are broken."""
    arrays = ArrayMemory(memory, sizes.device)
    return beam.beam_search(arrays, sizes.cpu().numpy(), search, content, normalised=normalised)


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
    drawn = table[steps if len(table) > 1 else torch.zeros_like(steps)][:, list(order)]  # (steps, positions)
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


class Stepwise(Decoder):
    """A decoder that chooses one sentence after the other from what it knows of a batch."""

    def memory(self, states: States, graph: GraphBatch) -> TensorMemory[Any]:
        """Everything that does not depend on what has been chosen."""
        raise NotImplementedError

    def choices(self, states: States, graph: GraphBatch) -> Choices:
        """Scores many orders at once from one memory."""
        memory = ArrayMemory(self.memory(states, graph), graph.sizes.device)
        size = graph.sentences

        def scored(orders: Sequence[Sequence[int]]) -> NDArray[np.float64]:
            rows, together = np.zeros((len(orders), size)), max(1, CELLS // size)
            for start in range(0, len(orders), together):
                some = np.array(orders[start : start + together], np.int64)
                rows[start : start + together] = score_orders(memory, some)
            return rows

        return scored
