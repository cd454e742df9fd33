"""Fitting confidence to the share of pairs that a model really puts in the right order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unshuffle.errors import DataError
from unshuffle.evaluation.predict import shuffled
from unshuffle.evaluation.reliability import Reliability, reliability
from unshuffle.evaluation.results import command_line, commit, versions
from unshuffle.metrics.orders import tau
from unshuffle.metrics.summary import OrderPair
from unshuffle.result import Ordering
from unshuffle.seeds import derived
from unshuffle.system.assemble import pair_evidence, pieces_per_sentence, scaled
from unshuffle.system.calibration import WEIGHTS, Calibration, Evidence
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

FEWEST = 20
"""Documents below which nothing can be fitted."""
RIDGE = 1e-3
"""Keeps weights finite where evidence and truth are perfectly in step."""
STEPS = 50
DIGITS = 9
"""To which chances are told apart."""
LEAST_BLOCK = 0.02
"""Share of all weight that a point of the monotone curve rests on at least, so that no few documents make one."""

DISTANCES = tuple(number / 4 for number in range(13))
"""Weights of distance that are tried."""
ENOUGH = 0.8
"""Share of right pairs that orders must have on average for `keep_if_unsure="auto"` to take them."""
CONFIDENCES = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
"""Thresholds that the report compares."""

Method = Literal["logistic", "isotonic"]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Observed:
    """What a model said about one order, and how much of it was right."""

    evidence: Evidence
    share: float
    """Of rightly ordered pairs."""
    pairs: ObservedPairs | None = None


@dataclass(frozen=True, slots=True)
class ObservedPairs:
    """The pairs of one order, as the order has them."""

    odds: FloatArray  # (pairs,) log-odds of their shares among the orders found
    distance: FloatArray  # (pairs,) logarithm of how far apart they stand
    right: FloatArray  # (pairs,) 1 where the true order has them the same way round

    def chances(self, confidence: float, weight: float) -> FloatArray:
        """(pairs,) calibrated."""
        return scaled(self.odds + weight * self.distance, confidence)


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """What `keep_if_unsure` does at one confidence."""

    confidence: float
    taken: float
    """Share of the orders that have at least this confidence."""
    right: float | None
    """Share of their pairs that are right; None where there are no such orders."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration and what it does to each kind of text, measured on documents that it was not fitted on."""

    calibration: Calibration
    before: dict[str, Reliability]
    after: dict[str, Reliability]
    pairs: dict[str, float]
    """Expected calibration error of the pair probabilities."""
    thresholds: tuple[ThresholdRow, ...] = ()
    """What a few thresholds of `keep_if_unsure` would do."""


def calibrated(
    orderer: Orderer, texts: Mapping[str, Sequence[Document]], *, method: Method = "logistic", seed: int = 1
) -> Fitted:
    """Orders all texts, fits on one half of each kind and measures on the other; each kind weighs the same."""
    fit: dict[str, list[Observed]] = {}
    held: dict[str, list[Observed]] = {}
    for name, documents in texts.items():
        found = observe(orderer, documents, seed=seed)
        drawn = np.random.default_rng(derived(seed, "halves", name)).permutation(len(found))
        half = len(found) // 2
        fit[name] = [found[number] for number in drawn[:half]]
        held[name] = [found[number] for number in drawn[half:]]
    if sum(map(len, fit.values())) < FEWEST or not all(held.values()):
        raise DataError(f"calibrate: there are too few documents. Give at least {2 * FEWEST} of two sentences or more.")
    weighed = [(one, 1 / len(some)) for some in fit.values() if some for one in some]
    calibration = fit_calibration([one for one, _ in weighed], [weight for _, weight in weighed], method=method)
    calibration = replace(calibration, distance=fit_distance(calibration, weighed))
    unseen = [(one, 1 / len(some)) for some in held.values() for one in some]
    calibration = replace(calibration, keep_below=keep_below(calibration, unseen))
    return Fitted(
        calibration,
        before={name: _reliability(some, None) for name, some in held.items()},
        after={name: _reliability(some, calibration) for name, some in held.items()},
        pairs={name: pair_error(some, calibration) for name, some in held.items()},
        thresholds=thresholds(calibration, unseen),
    )


def report(found: Fitted) -> dict[str, Any]:
    """The errors before and after, with what produced them."""
    return {
        "command": command_line(),
        "commit": commit(),
        "versions": versions(),
        "calibration": found.calibration.write(),
        "thresholds": [asdict(row) for row in found.thresholds],
        "texts": {
            name: {
                "documents": found.after[name].documents,
                "error_as_found": round(found.before[name].error, 4),
                "error_calibrated": round(found.after[name].error, 4),
                "error_of_pairs": round(found.pairs[name], 4),
            }
            for name in found.after
        },
    }


def observe(orderer: Orderer, documents: Iterable[Document], *, seed: int = 1) -> list[Observed]:
    """Orders each document once, shuffled, and looks how much is right; single sentences tell nothing."""
    raw = orderer.uncalibrated()
    drawn = list(shuffled((one for one in documents if len(one.sentences) > 1), 0, seed))
    found = []
    for ordering, (document, permutation) in zip(raw.order_many(one for one, _ in drawn), drawn, strict=True):
        gold = tuple(np.argsort(permutation).tolist())
        order = OrderPair(ordering.order, gold, document.sentences).aligned()
        log_probability = ordering.n_best[0].log_probability
        words = [encoded.ids for encoded in orderer.model.preparer.tokenizer.encode(document.sentences)]
        evidence = Evidence(ordering.confidence, log_probability, len(order), pieces_per_sentence(words))
        found.append(Observed(evidence, (1 + tau(order, gold)) / 2, _observed_pairs(ordering, order, gold)))
    return found


def _observed_pairs(ordering: Ordering, order: Sequence[int], gold: Sequence[int]) -> ObservedPairs:
    size = len(order)
    shares = np.zeros((size, size))
    for pair in ordering.pairs:
        shares[pair.first, pair.second], shares[pair.second, pair.first] = pair.probability, 1 - pair.probability
    odds = pair_evidence(ordering.order, shares, 0.0)
    first, second = np.triu_indices(size, 1)
    true = np.argsort(gold)[np.asarray(order)]  # true position of the k-th sentence of the order
    return ObservedPairs(odds, np.log(second - first), (true[first] < true[second]).astype(np.float64))


def fit_distance(calibration: Calibration, weighed: Sequence[tuple[Observed, float]]) -> float:
    """The weight of distance under which the right pairs are most probable; documents weigh as given."""
    paired = [(one.pairs, calibration.confidence(one.evidence), weight) for one, weight in weighed if one.pairs]
    losses = {
        candidate: sum(
            weight * _log_loss(pairs.chances(confidence, candidate), pairs.right)
            for pairs, confidence, weight in paired
        )
        for candidate in DISTANCES
    }
    return min(losses, key=losses.__getitem__) if paired else 0.0


def pair_error(observed: Sequence[Observed], calibration: Calibration, bins: int = 10) -> float:
    """Expected calibration error of the pairs of all documents together."""
    paired = [
        (one.pairs.chances(calibration.confidence(one.evidence), calibration.distance), one.pairs.right)
        for one in observed
        if one.pairs is not None
    ]
    if not paired:
        return 0.0
    chance, right = (np.concatenate(rows) for rows in zip(*paired, strict=True))
    member = np.minimum((chance * bins).astype(np.int64), bins - 1)
    gaps = [abs(chance[member == at].sum() - right[member == at].sum()) for at in range(bins)]
    return float(sum(gaps) / len(chance))


def _log_loss(chance: FloatArray, right: FloatArray) -> float:
    sure = np.clip(np.where(right > 0, chance, 1 - chance), 1e-6, 1.0)
    return float(-np.log(sure).mean())


def fit_calibration(
    observed: Sequence[Observed], weights: Sequence[float] | None = None, *, method: Method = "logistic"
) -> Calibration:
    """Logistic regression on shares; `isotonic` lays a monotone curve over it."""
    features = np.array([one.evidence.features() for one in observed])
    share = np.array([one.share for one in observed])
    weight = np.ones(len(share)) if weights is None else np.asarray(weights, np.float64)
    weight = weight * len(weight) / weight.sum()
    numbers = logistic(features, share, weight)
    plain = Calibration(**dict(zip(WEIGHTS, numbers.tolist(), strict=True)))
    if method == "logistic":
        return plain
    chance = np.array([plain.chance(one.evidence) for one in observed])
    return replace(plain, knots=isotonic(chance, share, weight))


def keep_below(calibration: Calibration, weighed: Sequence[tuple[Observed, float]]) -> float:
    """The lowest confidence such that the orders with at least that much have enough pairs right; 1 if none has.

    Where all of them have, the least sure too, nothing speaks for a threshold above the share that is enough.
    """
    said = np.array([calibration.confidence(one.evidence) for one, _ in weighed])
    weight = np.array([each for _, each in weighed])
    right = weight * np.array([one.share for one, _ in weighed])
    surest = np.argsort(-said, kind="stable")
    mean = np.cumsum(right[surest]) / np.cumsum(weight[surest])
    last = np.append(np.diff(said[surest]) < 0, True)  # equal confidences are taken or left together
    enough = np.flatnonzero(last & (mean >= ENOUGH))
    if not len(enough):
        return 1.0
    lowest = float(said[surest][enough[-1]])
    return min(lowest, ENOUGH) if enough[-1] == len(said) - 1 else lowest


def thresholds(calibration: Calibration, weighed: Sequence[tuple[Observed, float]]) -> tuple[ThresholdRow, ...]:
    """The share of orders at or above each of a few confidences, and how much of them is right."""
    said = np.array([calibration.confidence(one.evidence) for one, _ in weighed])
    weight = np.array([each for _, each in weighed])
    share = np.array([one.share for one, _ in weighed])
    rows = []
    for confidence in CONFIDENCES:
        taken = weight * (said >= confidence)
        right = round(float(taken @ share / taken.sum()), 4) if taken.any() else None
        rows.append(ThresholdRow(confidence, round(float(taken.sum() / weight.sum()), 4), right))
    return tuple(rows)


def logistic(features: FloatArray, share: FloatArray, weight: FloatArray) -> FloatArray:
    """Newton's method on the cross-entropy of shares; convex, so that it ends at the one best point."""
    numbers = np.zeros(features.shape[1])
    ridge = RIDGE * len(share) * np.eye(len(numbers))
    ridge[0, 0] = 1e-9
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(features @ numbers, -30, 30)))
        slope = features.T @ (weight * (chance - share)) + ridge @ numbers
        curve = (features * (weight * chance * (1 - chance))[:, None]).T @ features + ridge
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(numbers)), slope)
        numbers = numbers - step * min(1.0, 5 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-8:
            break
    return numbers


def isotonic(chance: FloatArray, share: FloatArray, weight: FloatArray) -> tuple[tuple[float, float], ...]:
    """The rising curve nearest to the shares: neighbours are joined until each has some weight and none falls."""
    distinct, member = np.unique(np.round(chance, DIGITS), return_inverse=True)  # a curve has one value for each
    mass = np.bincount(member, weight)
    rows = np.stack([mass, mass * distinct, np.bincount(member, weight * share)], 1)
    bins = np.minimum((np.cumsum(rows[:, 0]) - rows[:, 0]) / weight.sum() // LEAST_BLOCK, 1 / LEAST_BLOCK - 1)
    blocks: list[list[float]] = []  # weight, weighed chance, weighed share
    for number in np.unique(bins):
        blocks.append(rows[bins == number].sum(0).tolist())
        while len(blocks) > 1 and blocks[-2][2] / blocks[-2][0] >= blocks[-1][2] / blocks[-1][0]:
            last = blocks.pop()
            blocks[-1] = [one + other for one, other in zip(blocks[-1], last, strict=True)]
    return tuple((x / mass, min(y / mass, 1.0)) for mass, x, y in blocks)


def _reliability(observed: Sequence[Observed], calibration: Calibration | None) -> Reliability:
    said = [one.evidence.agreement if calibration is None else calibration.confidence(one.evidence) for one in observed]
    return reliability(said, [one.share for one in observed])
