"""How an exercise is wanted, what it is, and what the model thinks of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from string import ascii_uppercase
from typing import Any, Literal, TypedDict

from unshuffle.errors import ConfigError

Difficulty = Literal["easy", "medium", "hard"]
Change = Literal["drop", "merge"]


class ExerciseKeywords(TypedDict, total=False):
    """The fields of `ExerciseOptions` as keyword arguments."""

    count: int
    seed: int
    margin: float
    mend: bool
    keep: Collection[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExerciseOptions:
    """What to make of a paragraph."""

    count: int = 1
    """Exercises, each in another arrangement."""
    seed: int = 0
    """Another one gives other arrangements."""
    margin: float = 0.4
    """Least lead of the right order over any other, from 0 to 1, for it to be unambiguous."""
    mend: bool = False
    """Whether sentences are dropped or merged until the order is unambiguous."""
    keep: Collection[int] = ()
    """Sentences, from 0, that mending must not touch."""

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ConfigError(f"exercise: count is {self.count}. Give 1 or more.")
        if not 0 <= self.margin <= 1:
            raise ConfigError(f"exercise: margin is {self.margin}. Give a number from 0 to 1.")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of the paragraph that makes its order clearer."""

    change: Change
    sentences: tuple[int, ...]
    """Which of the paragraph's sentences it concerns."""
    margin: float
    solves: bool
    """Whether the order is then unambiguous."""
    result: tuple[str, ...]
    """The paragraph after the change."""


@dataclass(frozen=True, slots=True)
class Rival:
    """The most probable order other than the right one: what a pupil might answer with good reason."""

    order: tuple[int, ...]
    """Indices of the exercise's items in the order in which it reads them."""
    probability: float
    why: str
    """How it differs from the right order and what the model thinks of the difference, in whole sentences."""


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
    rival: Rival | None = None
    """None where the model found no other order."""
    proposals: tuple[Proposal, ...] = ()
    changes: tuple[str, ...] = ()
    """What was done to the paragraph to make its order clear, in whole sentences."""

    @property
    def paragraph(self) -> tuple[str, ...]:
        """The items in reading order."""
        return tuple(self.items[item] for item in self.solution)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


def label(item: int) -> str:
    """A, B, ... Z, AA, AB, ..."""
    letters = ""
    item += 1
    while item:
        item, rest = divmod(item - 1, len(ascii_uppercase))
        letters = ascii_uppercase[rest] + letters
    return letters
