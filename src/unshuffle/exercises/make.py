"""Scrambled-sentence exercises whose solution the model finds unambiguous."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Literal, Protocol

from unshuffle.errors import DataError
from unshuffle.result import Ordering
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document

FEWEST = 3
"""Items below which there is nothing to put in order."""
SCRAMBLES = 64
TWO_BEST = OrderOptions(n_best=2)
PROPOSALS = 3

Difficulty = Literal["easy", "medium", "hard"]


class OrdersMany(Protocol):
    """The part of `Orderer` that is needed here."""

    def order_many(
        self, documents: Iterable[Document | Sequence[str]], options: OrderOptions | None = None
    ) -> Iterator[Ordering]:
        """The best order of each document."""
        ...


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of the paragraph that makes its order clearer."""

    change: Literal["drop", "merge"]
    sentences: tuple[int, ...]
    """Which of the paragraph's sentences it concerns."""
    margin: float
    solves: bool
    """Whether the order is then unambiguous."""
    result: tuple[str, ...]
    """The paragraph after the change."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """A paragraph as scrambled items, and what the model thinks of its solution."""

    items: tuple[str, ...]
    """As shown to the pupil."""
    solution: tuple[int, ...]
    """Indices of `items` in reading order."""
    unambiguous: bool
    margin: float
    """How far the right order leads the best other one: 0 for as probable or less, 1 for certain."""
    difficulty: Difficulty
    seed: int
    reason: str = ""
    """Why it is not unambiguous."""
    proposals: tuple[Proposal, ...] = ()
    changes: tuple[str, ...] = ()
    """What was done to the paragraph to make it so."""

    @property
    def paragraph(self) -> tuple[str, ...]:
        """The items in reading order."""
        return tuple(self.items[item] for item in self.solution)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


def make_exercise(
    orderer: OrdersMany, sentences: Sequence[str], *, seed: int = 0, margin: float = 0.4, mend: bool = False
) -> Exercise:
    """An exercise from a paragraph in its right order; `mend` drops or merges sentences until it is unambiguous.

    Where nothing makes it so, the paragraph stays as it is.
    """
    paragraph = tuple(sentences)
    if len(paragraph) < FEWEST:
        raise DataError(f"exercise: {len(paragraph)} sentences are too few. Give at least {FEWEST}.")
    exercise = _scrambled(orderer, paragraph, seed, margin)
    if exercise.unambiguous:
        return exercise
    proposals = _proposals(orderer, paragraph, seed, margin)
    helpful = tuple(proposal for proposal in proposals if proposal.solves or proposal.margin > exercise.margin)
    changes: list[str] = []
    while mend and proposals:
        best = proposals[0]
        changes.append(f"{best.change} {', '.join(str(place + 1) for place in best.sentences)}")
        mended = _scrambled(orderer, best.result, seed, margin)
        if mended.unambiguous:
            return replace(mended, changes=tuple(changes))
        proposals = _proposals(orderer, best.result, seed, margin)
    return replace(exercise, proposals=helpful[:PROPOSALS])


def scramble(size: int, seed: int) -> tuple[int, ...]:
    """An arrangement that leaves as few neighbours as possible in their order; the same for the same seed."""
    chance = random.Random(f"{seed}:{size}")
    orders = [tuple(chance.sample(range(size), size)) for _ in range(SCRAMBLES)]

    def left_in_place(order: Sequence[int]) -> tuple[int, int]:
        neighbours = sum(second == first + 1 for first, second in pairwise(order))
        return neighbours, sum(place == item for place, item in enumerate(order))

    return min(orders, key=left_in_place)


def difficulty_of(margin: float, size: int) -> Difficulty:
    """Longer exercises are harder, and so are those where another order nearly reads as well."""
    hardness = (1 - margin) + 0.1 * (size - FEWEST)
    return "easy" if hardness < 0.35 else "medium" if hardness < 0.75 else "hard"


def lead(ordering: Ordering, right: Sequence[int]) -> float:
    """How far the right order leads the best other one; 0 if it does not lead at all."""
    others = [candidate.probability for candidate in ordering.n_best if candidate.order != tuple(right)]
    own = next((candidate.probability for candidate in ordering.n_best if candidate.order == tuple(right)), 0.0)
    best_other = max(others, default=0.0)
    if own <= best_other:
        return 0.0
    return (own - best_other) / (own + best_other)


def _scrambled(orderer: OrdersMany, paragraph: tuple[str, ...], seed: int, margin: float) -> Exercise:
    shown = scramble(len(paragraph), seed)
    items = tuple(paragraph[place] for place in shown)
    solution = tuple(shown.index(place) for place in range(len(paragraph)))
    # The model is given the scrambled items, so that it cannot lean on the order it is to find.
    (ordering,) = orderer.order_many([items], TWO_BEST)
    leading = lead(ordering, solution)
    reason = ""
    if len(set(items)) < len(items):
        reason = "two sentences are the same"
    elif ordering.order != solution:
        reason = "the model prefers another order"
    elif leading < margin:
        reason = "another order reads almost as well"
    return Exercise(
        items=items,
        solution=solution,
        unambiguous=not reason,
        margin=leading,
        difficulty=difficulty_of(leading, len(items)),
        seed=seed,
        reason=reason,
    )


def _proposals(orderer: OrdersMany, paragraph: tuple[str, ...], seed: int, margin: float) -> tuple[Proposal, ...]:
    """All single changes, those first that solve it, then by margin."""
    if len(paragraph) <= FEWEST:
        return ()
    changed: list[tuple[Literal["drop", "merge"], tuple[int, ...], tuple[str, ...]]] = []
    for place in range(len(paragraph)):
        changed.append(("drop", (place,), paragraph[:place] + paragraph[place + 1 :]))
    for place in range(len(paragraph) - 1):
        joined = f"{paragraph[place]} {paragraph[place + 1]}"
        changed.append(("merge", (place, place + 1), (*paragraph[:place], joined, *paragraph[place + 2 :])))
    shown = scramble(len(paragraph) - 1, seed)
    right = tuple(shown.index(place) for place in range(len(shown)))
    documents = [tuple(result[place] for place in shown) for _, _, result in changed]
    proposals = []
    for (change, concerned, result), ordering in zip(changed, orderer.order_many(documents, TWO_BEST), strict=True):
        leading = lead(ordering, right)
        solves = ordering.order == right and leading >= margin and len(set(result)) == len(result)
        proposals.append(Proposal(change, concerned, leading, solves, result))
    # Of two that are as good, merging comes first: it loses no text.
    proposals.sort(key=lambda proposal: (not proposal.solves, -round(proposal.margin, 6), proposal.change == "drop"))
    return tuple(proposals)
