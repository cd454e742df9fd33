"""What a search is asked for, what it needs of a decoder, and what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from unshuffle.errors import ConfigError
from unshuffle.rank.constraints import Constraints
from unshuffle.search.copies import Copies, Groups, in_turn, log_orders

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Found:
    """The best orders of one document, best first."""

    orders: tuple[tuple[int, ...], ...]
    log_probabilities: tuple[float, ...]
    """Of each order alone, without those that differ from it in copies of a sentence."""

    def distinct(self, copies: Groups) -> Found:
        """Each text once, with the probability of all orders that read like it.

        They are equally probable to a model that does not read the input order; to others, nearly.
        """
        if not copies:
            return self
        texts: dict[tuple[int, ...], float] = {}
        for order, value in zip(self.orders, self.log_probabilities, strict=True):
            texts.setdefault(in_turn(order, copies), min(value + log_orders(copies), 0.0))
        return Found(tuple(texts), tuple(texts.values()))


@dataclass(frozen=True, slots=True)
class Allowed:
    """Which orders may be given at all; made from users' constraints by `allowed_orders`."""

    before: Bools  # (documents, longest, longest) whether the row's sentence must come before the column's
    positions: Bools  # (documents, longest, longest) whether the column's sentence may stand at the row's position


@dataclass(frozen=True, slots=True)
class Search:
    """How to look for the best order."""

    beam: int = 64
    keep: int = 1
    """How many orders to return; with 1, hopeless ones are dropped early."""
    allowed: Allowed | None = None
    copies: Copies | None = None
    """Of sentences; each is chosen in its turn, so that no two orders read alike."""


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


def allowed_orders(constraints: Sequence[Constraints | None], sizes: Sequence[int]) -> Allowed | None:
    """The constraints of each document of a batch, checked that some order meets them; None where there are none."""
    if len(constraints) != len(sizes):
        raise ConfigError(
            f"constraints: {len(constraints)} for {len(sizes)} documents. Give one, or None, per document."
        )
    if all(some is None or some == Constraints() for some in constraints):
        return None
    documents, longest = len(sizes), max(sizes)
    before = np.zeros((documents, longest, longest), np.bool_)
    positions = np.zeros((documents, longest, longest), np.bool_)
    for document, (some, size) in enumerate(zip(constraints, sizes, strict=True)):
        rules = (some or Constraints()).rules(size)
        position = np.arange(size)[:, None]
        before[document, :size, :size] = rules.required
        positions[document, :size, :size] = (rules.earliest <= position) & (position <= rules.latest)
    return Allowed(before, positions)


def constraints_of(allowed: Allowed | None, document: int, size: int) -> Constraints | None:
    """The constraints of one document: a sentence with one position is fixed there, the rest follows from `before`."""
    if allowed is None:
        return None
    before = np.argwhere(allowed.before[document, :size, :size]).tolist()
    positions = allowed.positions[document, :size, :size]
    fixed = np.argwhere(positions & (positions.sum(0) == 1)).tolist()
    return Constraints(
        before=tuple((first, second) for first, second in before),
        fixed=tuple((position, sentence) for position, sentence in fixed),
    )
