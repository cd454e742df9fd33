"""What a judge is, how far it is trusted, and how its answers and their cost come back."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Protocol

import numpy as np

from unshuffle.errors import ConfigError, DataError, UnshuffleError, one_line
from unshuffle.rank.ranking import FloatArray
from unshuffle.result import Spend

log = logging.getLogger(__name__)

FORMAT = 1
NUMBERS = (int, float, np.integer, np.floating, np.bool_)
"""Types of an answer; True and False are 1 and 0."""


class Judge(Protocol):
    """Says which of two sentences comes first, in the light of the whole text.

    A judge may also have `trust` (a `Trust`; without it the default holds) and `at_once`, the number of documents it
    can be asked about at the same time (1 without it). Its answers may be `Answers`, which tell what they cost.
    """

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> Sequence[float | None]:
        """For each pair of numbers of sentences, the chance that the first comes before the second; None: no answer.

        The sentences come in an order that says nothing about the true one and does not depend on the input's.
        """
        ...


class Answers(tuple[float | None, ...]):
    """Answers that know what they cost, and why some are missing."""

    spend: Spend
    failed: str

    def __new__(cls, chances: Sequence[float | None], spend: Spend, failed: str = "") -> Answers:
        """`failed`: why answers are missing; where none came at all, no more is asked about the document."""
        made = super().__new__(cls, chances)
        made.spend, made.failed = spend, failed
        return made

    @property
    def stopped(self) -> bool:
        """Whether the judge failed so wholly that it is no use to go on."""
        return bool(self.failed) and all(chance is None for chance in self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """How a judge's answers weigh against the model's, best chosen on documents of known order (`fitted_trust`)."""

    reliability: float = 0.85
    """Chance that an answer is right at best: surer answers count as this sure. At 0.5 the judge is not used."""
    temperature: float = 1.0
    """The log-odds of an answer are divided by this."""
    model_weight: float = 1.0
    """What the log-odds of the model's own pair probabilities are multiplied by."""
    sure: float = 0.95
    """A pair is settled, and not asked about, once its chance one way or the other is higher."""

    def __post_init__(self) -> None:
        ranges = {"reliability": (0.5, 0.9999), "temperature": (0.05, 100.0), "model_weight": (0.0, 10.0)}
        for name, (least, most) in {**ranges, "sure": (0.5, 1.0)}.items():
            value = getattr(self, name)
            if not (isinstance(value, int | float) and least <= value <= most):
                raise ConfigError(f"trust: {name} is {value!r}. Give a number from {least:g} to {most:g}.")

    @property
    def used(self) -> bool:
        """Whether the judge is asked at all."""
        return self.reliability > 0.5

    def log_odds(self, chance: float) -> float:
        """What an answer adds to the log-odds of its pair."""
        cut = min(max(chance, 1 - self.reliability), self.reliability)
        return math.log(cut / (1 - cut)) / self.temperature

    def write(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def read(cls, plain: Any, where: str = "trust.json") -> Trust:
        """The reverse of `write`, checked number by number."""
        names = {field.name for field in fields(cls)}
        if not isinstance(plain, dict) or plain.get("format") != FORMAT or not set(plain) <= {"format", *names}:
            raise ConfigError(f"{where}: not the trust in a judge as this program writes it. Fit it again.")
        return cls(**{name: value for name, value in plain.items() if name != "format"})


def trust_in(judge: Judge) -> Trust:
    """The judge's own, or the default."""
    trust: Trust = getattr(judge, "trust", None) or Trust()
    return trust


def check_judge(judge: object, where: str) -> None:
    """Refuse what cannot be asked."""
    if isinstance(judge, type) or not callable(getattr(judge, "answers", None)):
        what = f"the class {judge.__name__}" if isinstance(judge, type) else f"a {type(judge).__name__}"
        raise ConfigError(
            f"{where}: judge is {what}, which cannot be asked. Give an object with `answers`, such as a ChatJudge; "
            "a function that compares two texts goes into PairRanker(compare=...)."
        )


def put(judge: Judge, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> Answers:
    """A judge's answers, checked; where it fails there are none, and whoever needs them goes without.

    Errors of this program are the caller's to mend, and pass.
    """
    if not pairs:
        return Answers((), Spend())
    try:
        given = judge.answers(tuple(sentences), tuple(pairs))
        answers = checked_answers(given, len(pairs))
    except UnshuffleError:
        raise
    except Exception as error:  # whatever a judge's own libraries raise must not cost the user the order
        reason = one_line(f"{type(error).__name__}: {error}")[:200]
        log.warning("unshuffle: the judge failed (%s); the rest of this document goes without it.", reason)
        return Answers((None,) * len(pairs), Spend(), reason)
    return Answers(answers, getattr(given, "spend", Spend()), getattr(given, "failed", ""))


def checked_answers(given: Sequence[float | None], pairs: int) -> list[float | None]:
    """One chance or None per pair, or an error that names what is wrong."""
    try:
        answers = list(given)
    except TypeError:
        raise DataError(f"judge: it gave {given!r:.40} to {pairs} questions. Give a list, one answer each.") from None
    if len(answers) != pairs:
        raise DataError(f"judge: it gave {len(answers)} answers to {pairs} questions. Give one each, None for none.")
    for answer in answers:
        if answer is not None and not (isinstance(answer, NUMBERS) and 0 <= answer <= 1):
            raise DataError(f"judge: it answered {answer!r}. Answer with a number from 0 to 1, or None.")
    return [None if answer is None else float(answer) for answer in answers]


def odds_of(chance: FloatArray, surest: float = 0.999) -> FloatArray:
    """Log-odds, those of certain pairs cut."""
    cut = np.clip(chance, 1 - surest, surest)
    odds: FloatArray = np.log(cut / (1 - cut))
    return odds


def chance_of(odds: FloatArray) -> FloatArray:
    """The reverse of `odds_of`."""
    chance: FloatArray = 1 / (1 + np.exp(-np.clip(odds, -30.0, 30.0)))
    return chance
