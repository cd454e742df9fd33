"""How documents are ordered: one object for the library, the command line, the service and the adapters."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal, TypedDict

from unshuffle.errors import ConfigError
from unshuffle.judge.contracts import Judge, check_judge

if TYPE_CHECKING:
    from unshuffle.rank.constraints import Constraints

DEFAULT_QUESTIONS = 20
"""To a judge, about one document."""
DEFAULT_BEAM = 8
"""The narrowest that lost at most 0.1 tau on validation documents (results/benchmarks/beams.json)."""
DEFAULT_BEST = 5

Threshold = float | Literal["auto"] | None
"""A confidence, the model's own preset, or none."""


class OrderKeywords(TypedDict, total=False):
    """The fields of `OrderOptions` as keyword arguments of the public functions."""

    beam: int | None
    n_best: int | None
    keep_if_unsure: Threshold
    constraints: Constraints | None
    judge: Judge | None
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderOptions:
    """What to search for; the same for all documents of one call."""

    beam: int | None = None
    """Width of the search; None for 8."""
    n_best: int | None = None
    """How many of the best orders the result holds; None for 5, or as many as a narrower beam finds."""
    keep_if_unsure: Threshold = None
    """The input order is kept where confidence is lower; "auto" is the threshold stored with the model."""
    constraints: Constraints | None = None
    """What is known of the order beforehand."""
    judge: Judge | None = None
    """Whom to ask about pairs of which the model is unsure."""
    questions: int = DEFAULT_QUESTIONS
    """How many pairs of a document the judge may be asked about."""

    def __post_init__(self) -> None:
        if self.beam is not None:
            check_count("order", "beam", self.beam)
        if self.n_best is not None:
            check_count("order", "n_best", self.n_best)
            if self.beam is not None and self.beam < self.n_best:
                raise ConfigError(
                    f"order: n_best is {self.n_best}, but a beam of {self.beam} finds no more than {self.beam}. "
                    "Widen the beam, or leave it out."
                )
        check_count("order", "questions", self.questions, least=0)
        if self.judge is not None:
            check_judge(self.judge, "order")
        if self.constraints is not None:
            from unshuffle.rank.constraints import Constraints

            if not isinstance(self.constraints, Constraints):
                kind = type(self.constraints).__name__
                raise ConfigError(
                    f"order: constraints is of type {kind}. Give unshuffle.Constraints, such as "
                    "Constraints(before=[(0, 1)])."
                )
        least = self.keep_if_unsure
        if least is None or (isinstance(least, str) and least == "auto"):
            return
        if isinstance(least, bool) or not isinstance(least, Real) or not 0 <= least <= 1:
            raise ConfigError(f"order: keep_if_unsure is {least!r}. Give a number from 0 to 1, or 'auto'.")

    @property
    def width(self) -> int:
        """Of the search."""
        return max(DEFAULT_BEAM, self.n_best or 1) if self.beam is None else self.beam

    @property
    def orders(self) -> int:
        """How many of the best orders are wanted."""
        return min(DEFAULT_BEST, self.width) if self.n_best is None else self.n_best


def check_count(function: str, name: str, value: object, *, least: int = 1) -> None:
    """Refuses what is no whole number, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ConfigError(f"{function}: {name} is {value!r}. Give a whole number, {least} or more.")


def changed(options: OrderOptions | None, function: str, changes: OrderKeywords) -> OrderOptions:
    """The options with some of them given anew, as keyword arguments of a function."""
    known = [field.name for field in fields(OrderOptions)]
    for name in changes:
        if name not in known:
            near = get_close_matches(name, known, 1)
            advice = f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(known)}."
            raise TypeError(f"{function}: there is no option '{name}'. {advice}")
    return replace(options or OrderOptions(), **changes)


def read_threshold(text: str | None) -> Threshold:
    """A threshold as it is written on a command line."""
    if text is None or text == "auto":
        return text  # type: ignore[return-value]
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"--keep-if-unsure {text}: give a number from 0 to 1, or 'auto'.") from None
