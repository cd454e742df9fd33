"""What the user knows about an order beforehand: precedences, fixed places, sources whose order is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unshuffle.errors import ConfigError
from unshuffle.rank.ranking import BoolArray
from unshuffle.rank.rules import Rules


@dataclass(frozen=True, slots=True)
class Constraints:
    """Conditions that an order must meet; sentences and places count from 0."""

    before: Sequence[tuple[int, int]] = ()
    """Pairs whose first sentence comes somewhere before the second."""
    fixed: Sequence[tuple[int, int]] = ()
    """Pairs of a place and the sentence that stands there."""
    within_source: Sequence[str | int | None] = ()
    """The source of each sentence: those of one source keep their input order; None is no source."""

    @property
    def input_meets_them(self) -> bool:
        """Whether the sentences may stay as they came."""
        in_place = all(place == sentence for place, sentence in self.fixed)
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
        return _windowed(required, self._places(sentences, required))

    def _pairs(self, sentences: int) -> list[tuple[int, int]]:
        for first, second in self.before:
            if not (0 <= first < sentences and 0 <= second < sentences):
                raise ConfigError(
                    f"constraints: {first} before {second}, but there are {sentences} sentences (from 0)."
                )
            if first == second:
                raise ConfigError(f"constraints: {first} before {second} names one sentence twice. Drop the pair.")
        if self.within_source and len(self.within_source) != sentences:
            given = len(self.within_source)
            raise ConfigError(
                f"constraints: {given} sources for {sentences} sentences. Give one per sentence, or None."
            )
        last: dict[str | int, int] = {}
        pairs = list(self.before)
        for sentence, source in enumerate(self.within_source):
            if source is not None:
                if source in last:
                    pairs.append((last[source], sentence))
                last[source] = sentence
        return pairs

    def _places(self, sentences: int, required: BoolArray) -> dict[int, int]:
        place_of: dict[int, int] = {}
        sentence_at: dict[int, int] = {}
        for place, sentence in self.fixed:
            if not (0 <= place < sentences and 0 <= sentence < sentences):
                raise ConfigError(
                    f"constraints: place {place} for {sentence}, but there are {sentences} sentences (from 0)."
                )
            if sentence_at.setdefault(place, sentence) != sentence:
                raise ConfigError(f"constraints: place {place} is for {sentence_at[place]} and {sentence}. Keep one.")
            if place_of.setdefault(sentence, place) != place:
                raise ConfigError(f"constraints: {sentence} is at places {place_of[sentence]} and {place}. Keep one.")
        for first, early in place_of.items():
            for second, late in place_of.items():
                if required[first, second] and early >= late:
                    raise ConfigError(
                        f"constraints: {first} before {second}, but their places are {early} and {late}. Drop one."
                    )
        return place_of


def _windowed(required: BoolArray, place_of: dict[int, int]) -> Rules:
    """Narrows each sentence's window by those it must follow or precede, then checks that there is room for all."""
    sentences = len(required)
    earliest = required.sum(0).astype(np.intp)
    latest = sentences - 1 - required.sum(1).astype(np.intp)
    anchored = np.zeros(sentences, dtype=np.bool_)
    for sentence, place in place_of.items():
        earliest[sentence] = max(earliest[sentence], place)
        latest[sentence] = min(latest[sentence], place)
        anchored[place] = True
    by_depth = np.argsort(required.sum(0), kind="stable")
    for sentence in by_depth:
        earliest[sentence] = max(earliest[sentence], (earliest[required[:, sentence]] + 1).max(initial=0))
    for sentence in by_depth[::-1]:
        latest[sentence] = min(latest[sentence], (latest[required[sentence]] - 1).min(initial=sentences))
    for sentence in range(sentences):
        if earliest[sentence] > latest[sentence]:
            raise ConfigError(
                f"constraints: sentence {sentence} must be at place {earliest[sentence]} or later and at "
                f"{latest[sentence]} or earlier. Free a fixed place."
            )
    for first in np.unique(earliest):
        for last in np.unique(latest):
            crowd = np.flatnonzero((earliest >= first) & (latest <= last))
            if len(crowd) > max(last - first + 1, 0):
                raise ConfigError(
                    f"constraints: sentences {crowd.tolist()} must all stand from place {first} to {last}. "
                    "Free a fixed place."
                )
    return Rules(required, earliest, latest, anchored)
