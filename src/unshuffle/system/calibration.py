"""Confidence that means what it says: the share of rightly ordered pairs to be expected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from unshuffle.errors import ConfigError
from unshuffle.headline import GUESS

FORMAT = 1
FewerBits = Literal["int8", "bf16"]
WEIGHTS = ("intercept", "agreement", "choice", "length", "pieces")
"""Of the features, in their order; a file from before the last of them goes without it."""
SUREST = 0.999
"""Agreement is cut here, since orders that were never found cannot disagree."""
CHANCE = 0.5
"""Share of right pairs below which nobody need fall: a coin has it."""
FARTHEST = 10.0
"""Largest weight of the distance between sentences."""
LARGEST = 1e6
"""Beyond any number of a calibration."""
LEAST_CHOICE = -10.0
"""Mean log-probability of a choice below which all orders are equally hopeless."""


KEEP_BELOW = GUESS
"""Confidence below which `keep_if_unsure="auto"` keeps the input order where a model has no threshold of its own."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the model says about its own order."""

    agreement: float
    """Mean probability of the order's pairs among the orders that the search found."""
    log_probability: float
    sentences: int
    pieces: float
    """Words or word pieces that a sentence has on average: short ones say less of where they belong."""

    def features(self) -> tuple[float, ...]:
        """One, log-odds of the agreement, mean log-probability of a choice, logarithms of both lengths."""
        agreement = min(max(self.agreement, 1 - SUREST), SUREST)
        choice = max(self.log_probability / max(self.sentences - 1, 1), LEAST_CHOICE)
        odds = math.log(agreement / (1 - agreement))
        return 1.0, odds, choice, math.log(self.sentences), math.log(max(self.pieces, 1.0))


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Logistic regression on the evidence, then, where fitted, a monotone curve through knots.

    Fitted for evidence from as many orders as the default beam finds; other beams are judged by as many.
    """

    intercept: float
    agreement: float
    choice: float
    length: float
    pieces: float = 0.0
    knots: tuple[tuple[float, float], ...] = ()
    """Points (before, after) of the curve, both rising; empty for none."""
    distance: float = 0.0
    """Weight of how far apart the order has two sentences, in the log-odds of their pair."""
    keep_below: float | None = None
    """Confidence from which on the orders have enough pairs right on validation; None where it was not fitted."""
    harmless: tuple[FewerBits, ...] = ()
    """Precisions in which no kind of text lost more than 0.2 τ; `auto` takes them where the processor has them."""

    def confidence(self, evidence: Evidence) -> float:
        """Expected share of rightly ordered pairs; a single sentence has none that could be wrong."""
        return 1.0 if evidence.sentences < 2 else max(self.curved(self.chance(evidence)), CHANCE)

    def chance(self, evidence: Evidence) -> float:
        """What the regression alone says."""
        weights = (self.intercept, self.agreement, self.choice, self.length, self.pieces)
        score = sum(weight * feature for weight, feature in zip(weights, evidence.features(), strict=True))
        return 1 / (1 + math.exp(-max(min(score, 30.0), -30.0)))

    def curved(self, chance: float) -> float:
        """The curve at one point; beyond its ends it is flat."""
        if not self.knots:
            return chance
        before, after = zip(*self.knots, strict=True)
        return float(np.interp(chance, before, after))

    def write(self) -> dict[str, Any]:
        """Plain numbers, as in `calibration.json`."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def read(cls, plain: Any, where: str = "calibration.json") -> Calibration:
        """The reverse of `write`, checked number by number."""
        if not isinstance(plain, dict) or plain.get("format") != FORMAT:
            raise ConfigError(f"{where}: not a calibration of this program. Fit it again with `unshuffle calibrate`.")
        knots = plain.get("knots", [])
        numbers: list[Any] = [plain.get(name, 0.0 if name == "pieces" else None) for name in WEIGHTS]
        if not isinstance(knots, list | tuple) or not all(_is_point(knot) for knot in knots):
            raise ConfigError(f"{where}: 'knots' are not pairs of numbers. Fit it again with `unshuffle calibrate`.")
        if not all(_is_number(number) for number in numbers) or not _rising(knots):
            raise ConfigError(f"{where}: its numbers are not usable. Fit it again with `unshuffle calibrate`.")
        distance = plain.get("distance", 0.0)
        if not (_is_number(distance) and 0 <= distance <= FARTHEST):
            raise ConfigError(f"{where}: 'distance' is not usable. Fit it again with `unshuffle calibrate`.")
        keep_below = plain.get("keep_below")
        if keep_below is not None and not (_is_number(keep_below) and 0 <= keep_below <= 1):
            raise ConfigError(f"{where}: 'keep_below' is not between 0 and 1. Fit it again with `unshuffle calibrate`.")
        harmless = plain.get("harmless", [])
        if not isinstance(harmless, list | tuple) or not all(bits in get_args(FewerBits) for bits in harmless):
            raise ConfigError(f"{where}: 'harmless' names no precisions. Fit it again with `unshuffle calibrate`.")
        return cls(
            **{name: float(number) for name, number in zip(WEIGHTS, numbers, strict=True)},
            knots=tuple((float(before), float(after)) for before, after in knots),
            distance=float(distance),
            keep_below=None if keep_below is None else float(keep_below),
            harmless=tuple(harmless),
        )


def _is_number(value: object) -> bool:
    # Compared, because a whole number may be too large for the question whether it is finite.
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST


def _is_point(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(_is_number(number) for number in value)


def _rising(knots: Sequence[Sequence[float]]) -> bool:
    """Whether both columns never fall and all values are chances."""
    points = np.asarray(knots, dtype=np.float64).reshape(-1, 2)
    return bool(((points >= 0) & (points <= 1)).all() and (np.diff(points, axis=0) >= 0).all())
