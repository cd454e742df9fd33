"""What a search is asked for, what it needs of a decoder, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Found:
    """The best orders of one document, best first."""

    orders: tuple[tuple[int, ...], ...]
    log_probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Allowed:
    """Which orders may be given at all; made from users' constraints by `allowed_orders`."""

    before: Bools  # (documents, longest, longest) whether the row's sentence must come before the column's
    places: Bools  # (documents, longest, longest) whether the column's sentence may stand at the row's position


@dataclass(frozen=True, slots=True)
class Search:
    """How to look for the best order."""

    beam: int = 64
    keep: int = 1
    """How many orders to return; with 1, hopeless ones are dropped early."""
    allowed: Allowed | None = None


@dataclass(frozen=True, slots=True)
class Prefix:
    """What has been chosen so far, one row per partial order."""

    document: Ints  # (rows,)
    used: Bools  # (rows, longest) already chosen, or absent
    chosen: Ints  # (rows, steps)
    score: Floats  # (rows,) log-probability


class Memory(Protocol[State]):
    """What a step-by-step decoder knows of a batch, computed once before the search.

    Indices come as numpy arrays and scores go back as numpy arrays; the state belongs to the decoder's own runtime.
    """

    def begin(self) -> State:
        """The state before the first choice, one row per document."""
        ...

    def advance(self, carry: State, parent: Ints, document: Ints, choice: Ints) -> State:
        """The state after each row's parent has chosen `choice`."""
        ...

    def logits(self, carry: State, prefix: Prefix) -> NDArray[np.floating]:
        """(rows, longest) score of every sentence as the next one."""
        ...
