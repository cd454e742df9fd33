"""What the user knows about an order beforehand: precedences, fixed positions, sources whose order is kept."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from unshuffle.errors import ConfigError
from unshuffle.rank.ranking import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What an order must satisfy; built by `Constraints.rules`, which makes sure that some order does."""

    required: BoolArray
    """(sentences, sentences) whether row must come before column, chains included."""
    earliest: IntArray
    latest: IntArray
    """First and last position of each sentence; a sentence's range starts and ends after those of the sentences it must
    follow."""
    anchored: BoolArray
    """Places whose sentence is fixed."""

    @classmethod
    def free(cls, sentences: int) -> Rules:
        """No rule at all."""
        return cls(
            required=np.zeros((sentences, sentences), dtype=np.bool_),
            earliest=np.zeros(sentences, dtype=np.intp),
            latest=np.full(sentences, sentences - 1, dtype=np.intp),
            anchored=np.zeros(sentences, dtype=np.bool_),
        )

    @property
    def bind(self) -> bool:
        """Whether there is any rule."""
        return bool(self.required.any() or self.anchored.any())

    @property
    def named(self) -> BoolArray:
        """(sentences,) which sentences a rule is about."""
        named: BoolArray = (self.earliest > 0) | (self.latest < len(self.latest) - 1)
        return named

    @property
    def decided(self) -> BoolArray:
        """(sentences, sentences) whether every allowed order has the row's sentence before the column's."""
        end = len(self.latest) - 1
        decided: BoolArray = self.required | (self.latest[:, None] < self.earliest)
        decided |= (self.latest == 0)[:, None] | (self.earliest == end)
        np.fill_diagonal(decided, val=False)
        return decided

    def relabelled(self, labels: IntArray) -> Rules:
        """The same rules where sentence `labels[k]` is called k."""
        required = self.required[np.ix_(labels, labels)]
        return Rules(required, self.earliest[labels], self.latest[labels], self.anchored)

    def allowed(self, used: BoolArray) -> BoolArray:
        """(..., sentences) used in a prefix -> (..., sentences) which may follow such that an order can be completed.

        Of unit jobs with windows, a set can be done in time if no deadline has more open jobs than positions before it
        (windows that start later were checked once and do not change); predecessors first then costs nothing.
        """
        left = ~used
        position = used.sum(-1, keepdims=True)  # (..., 1)
        waiting = left.astype(np.int64) @ self.required.astype(np.int64)  # (..., sentences)
        may: BoolArray = left & (waiting == 0) & (self.earliest <= position)
        if self.anchored.any():
            for deadline in np.unique(self.latest):
                due = self.latest <= deadline
                open_jobs = (left & due).sum(-1, keepdims=True) - due  # after each choice
                may &= open_jobs <= np.maximum(deadline - position, 0)
        return may

    def nearest(self, wanted: Sequence[int]) -> list[int]:
        """The order that puts at each position the first sentence of the wanted order that is allowed there."""
        if not self.bind:
            return [int(sentence) for sentence in wanted]
        used = np.zeros(len(self.earliest), dtype=np.bool_)
        order: list[int] = []
        for _ in wanted:
            may = self.allowed(used)
            order.append(next(int(sentence) for sentence in wanted if may[sentence]))
            used[order[-1]] = True
        return order


@dataclass(frozen=True, slots=True)
class Constraints:
    """Conditions that an order must meet; sentences and positions count from 0."""

    before: Sequence[tuple[int, int]] = ()
    """Pairs whose first sentence comes somewhere before the second."""
    fixed: Sequence[tuple[int, int]] = ()
    """Pairs of a position and the sentence that stands there."""
    within_source: Sequence[str | int | None] = ()
    """The source of each sentence: those of one source keep their input order; None is no source."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "before", _number_pairs("before", self.before))
        object.__setattr__(self, "fixed", _number_pairs("fixed", self.fixed))
        sources: Any = self.within_source
        if isinstance(sources, str | Mapping) or not isinstance(sources, Iterable):
            raise ConfigError(
                f"constraints: within_source is of type {type(sources).__name__}. Give a list with one source for "
                "each sentence."
            )
        sources = tuple(sources)
        for sentence, source in enumerate(sources):
            if not isinstance(source, Hashable):
                raise ConfigError(f"constraints: the source of sentence {sentence} is {source!r}. Give its name.")
        object.__setattr__(self, "within_source", sources)

    @property
    def input_meets_them(self) -> bool:
        """Whether the sentences may stay as they came."""
        in_place = all(position == sentence for position, sentence in self.fixed)
        return in_place and all(first < second for first, second in self.before)

    def rules(self, sentences: int) -> Rules:
        """The constraints for a document of this many sentences, after checking that some order meets them all."""
        pairs = self._pairs(sentences)
        required = np.zeros((sentences, sentences), dtype=np.bool_)
        for first, second in pairs:
            required[first, second] = True
        for middle in range(sentences):
            required |= required[:, middle, None] & required[middle]
        for first, second in pairs:
            if required[second, first]:
                raise ConfigError(f"constraints: {first} before {second} closes a cycle. Drop a pair of that cycle.")
        return _windowed(required, self._positions(sentences, required))

    def _pairs(self, sentences: int) -> list[tuple[int, int]]:
        for first, second in self.before:
            if not (0 <= first < sentences and 0 <= second < sentences):
                raise ConfigError(
                    f"constraints: sentence {first} is to come before {second}, but {_numbered(sentences)}."
                )
            if first == second:
                raise ConfigError(f"constraints: {first} before {second} names one sentence twice. Drop the pair.")
        if self.within_source and len(self.within_source) != sentences:
            given = len(self.within_source)
            raise ConfigError(
                f"sources: {given} given for a document of {sentences} sentences. Give one for each sentence."
            )
        last: dict[str | int, int] = {}
        pairs = list(self.before)
        for sentence, source in enumerate(self.within_source):
            if source is not None:
                if source in last:
                    pairs.append((last[source], sentence))
                last[source] = sentence
        return pairs

    def _positions(self, sentences: int, required: BoolArray) -> dict[int, int]:
        position_of: dict[int, int] = {}
        sentence_at: dict[int, int] = {}
        for position, sentence in self.fixed:
            if not (0 <= position < sentences and 0 <= sentence < sentences):
                raise ConfigError(
                    f"constraints: sentence {sentence} is to stand at position {position}, but {_numbered(sentences)}."
                )
            if sentence_at.setdefault(position, sentence) != sentence:
                raise ConfigError(
                    f"constraints: sentences {sentence_at[position]} and {sentence} are both to stand at position "
                    f"{position}. Drop one of them."
                )
            if position_of.setdefault(sentence, position) != position:
                raise ConfigError(
                    f"constraints: sentence {sentence} is to stand at positions {position_of[sentence]} and "
                    f"{position}. Drop one of them."
                )
        for first, early in position_of.items():
            for second, late in position_of.items():
                if required[first, second] and early >= late:
                    raise ConfigError(
                        f"constraints: {first} before {second}, but their positions are {early} and {late}. Drop one."
                    )
        return position_of


def _number_pairs(name: str, given: Any) -> tuple[tuple[int, int], ...]:
    """Pairs of numbers as the user wrote them, in tuples."""
    advice = f"Give pairs of numbers, such as {name}=[(0, 2)]."
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise ConfigError(f"constraints: {name} is of type {type(given).__name__}. {advice}")
    pairs = []
    for pair in given:
        numbers = tuple(pair) if isinstance(pair, Iterable) and not isinstance(pair, str | Mapping | set) else ()
        if len(numbers) != 2 or not all(isinstance(one, Integral) and not isinstance(one, bool) for one in numbers):
            raise ConfigError(f"constraints: {name} has {pair!r} in it. {advice}")
        pairs.append((int(numbers[0]), int(numbers[1])))
    return tuple(pairs)


def _numbered(sentences: int) -> str:
    """How many sentences there are, and how they are counted."""
    return "there is only sentence 0" if sentences == 1 else f"the {sentences} sentences are 0 to {sentences - 1}"


def _windowed(required: BoolArray, position_of: dict[int, int]) -> Rules:
    """Narrows each sentence's window by those it must follow or precede, then checks that there is room for all."""
    sentences = len(required)
    earliest = required.sum(0).astype(np.intp)
    latest = sentences - 1 - required.sum(1).astype(np.intp)
    anchored = np.zeros(sentences, dtype=np.bool_)
    for sentence, position in position_of.items():
        earliest[sentence] = max(earliest[sentence], position)
        latest[sentence] = min(latest[sentence], position)
        anchored[position] = True
    by_depth = np.argsort(required.sum(0), kind="stable")
    for sentence in by_depth:
        earliest[sentence] = max(earliest[sentence], (earliest[required[:, sentence]] + 1).max(initial=0))
    for sentence in by_depth[::-1]:
        latest[sentence] = min(latest[sentence], (latest[required[sentence]] - 1).min(initial=sentences))
    for sentence in range(sentences):
        if earliest[sentence] > latest[sentence]:
            raise ConfigError(
                f"constraints: sentence {sentence} must be at position {earliest[sentence]} or later and at "
                f"{latest[sentence]} or earlier. Free a fixed position."
            )
    for first in np.unique(earliest):
        for last in np.unique(latest):
            crowd = np.flatnonzero((earliest >= first) & (latest <= last))
            if len(crowd) > max(last - first + 1, 0):
                raise ConfigError(
                    f"constraints: sentences {crowd.tolist()} must all stand from position {first} to {last}. "
                    "Free a fixed position."
                )
    return Rules(required, earliest, latest, anchored)
