"""One honest line about an order, the same in Python, on the command line, over HTTP and on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

GUESS, FAIR, SURE = 0.65, 0.75, 0.95
"""Confidence below which an order is little better than a guess, or unsure; and from which on it is sure.

The one scale of this program. The table of thresholds in docs/confidence.md has it: of orders at or above these, 77, 85
and 97% of the pairs stand the right way round. Below the first, "auto" keeps the input order where a model has no
threshold of its own.
"""
DOUBT = FAIR
"""A step is worth checking where the chance that its two sentences stand the right way round is lower."""
MOST_NAMED = 3
"""Doubtful steps that are named one by one."""
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

Level = Literal["sure", "fair", "unsure"]


@dataclass(frozen=True, slots=True)
class Headline:
    """How sure the model is of an order, in words, and which steps to check."""

    level: Level
    line: str
    detail: str
    doubtful: tuple[int, ...] = ()
    """Steps worth checking, counted from 1: step 1 leads from the first sentence to the second."""
    doubt_below: float = DOUBT
    """The chance below which a step counts as doubtful."""

    def __str__(self) -> str:
        return f"{self.line}. {self.detail}"


def headline_of(
    order: Sequence[int],
    confidence: float,
    chances: Mapping[tuple[int, int], float],
    *,
    kept: bool,
    same: bool = False,
) -> Headline:
    """`chances[i, j]`: that sentence i comes before j, for i < j; steps that it does not name raise no doubt.

    `same`: all sentences have one text.
    """
    steps = len(order) - 1
    if not steps:
        return Headline("sure", "There is nothing to order: it is one sentence", "Is the text split as you meant it?")
    if same:
        return Headline("sure", "There is nothing to order: the sentences are identical", "Any order reads alike.")
    detail = _in_ten(confidence)
    doubts = tuple(
        number
        for number, (first, second) in enumerate(pairwise(order), start=1)
        if _chance(chances, first, second) < DOUBT
    )
    if kept:
        detail = detail.replace("By its own estimate", "In the order it would have given, by its own estimate")
        return Headline("unsure", "Too unsure: the sentences were left as they were", detail, doubts)
    level, line = _verdict(confidence, _to_check(doubts, steps))
    return Headline(level, line, detail, doubts)


def _chance(chances: Mapping[tuple[int, int], float], first: int, second: int) -> float:
    if first < second:
        return chances.get((first, second), 1.0)
    return 1 - chances.get((second, first), 0.0)


def _verdict(confidence: float, check: str) -> tuple[Level, str]:
    if confidence < GUESS:
        return "unsure", "Little better than a guess: check every step"
    if confidence < FAIR:
        return "unsure", f"Fairly unsure: {check}" if check else "Fairly unsure, though no single step stands out"
    if check:
        return "fair", f"Fairly sure, but {check}"
    return ("fair", "Fairly sure of every step") if confidence < SURE else ("sure", "Sure of every step")


def _to_check(doubts: Sequence[int], steps: int) -> str:
    if not doubts:
        return ""
    if len(doubts) == steps:
        return "check the step" if steps == 1 else "check every step"
    if len(doubts) > MOST_NAMED:
        return "check most steps" if len(doubts) > steps / 2 else f"check {len(doubts)} steps"
    *others, last = (f"{step} and {step + 1}" for step in doubts)
    return f"check between sentences {', '.join([*others, f'and {last}' if others else last])}"


def _in_ten(confidence: float) -> str:
    """A confidence as a frequency that one can picture."""
    if confidence > SURE:
        share = "nearly every pair of sentences stands"
    else:
        share = f"about {NUMBERS[min(9, round(10 * confidence))]} in ten pairs of sentences stand"
    return f"By its own estimate, {share} the right way round."
