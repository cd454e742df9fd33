"""Beam search over the memory of a torch decoder: the search itself is numpy's and serves every runtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshuffle.layers.precision import single
from unshuffle.search import beam
from unshuffle.search.contracts import Found, Ints, Prefix, Search

State = TypeVar("State")


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
