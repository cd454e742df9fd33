"""From what the network found to the result that users see: orders, pair probabilities, reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unshuffle.errors import ConfigError
from unshuffle.graph.build import Graph
from unshuffle.graph.prepare import Item
from unshuffle.rank.constraints import Constraints
from unshuffle.result import Candidate, Ordering, PairProbability, Round
from unshuffle.search.contracts import Found
from unshuffle.search.copies import in_turn, interchangeable
from unshuffle.system.calibration import Calibration, Evidence
from unshuffle.system.options import DEFAULT_BEAM
from unshuffle.system.reasons import reasons
from unshuffle.system.warning import doubts
from unshuffle.text.document import Document

FloatArray = NDArray[np.float64]
CONFIDENCE_BEAM = DEFAULT_BEAM
"""Width of the search that pair probabilities and confidence rest on: the one on which calibration is fitted."""
SUREST = 0.99
"""Shares among the orders found are cut here, since orders that were never found cannot disagree."""
STEPS = 60
"""Halvings in the search for the scale; the last ones change nothing."""
STEEPEST = 50.0
NO_NUMBERS = "model: its weights give no order: they are not numbers, or too large. Use another model."


def assembled(
    item: Item, found: Found, judges: Found, rounds: tuple[Round, ...], *, n_best: int, calibration: Calibration | None
) -> Ordering:
    """A document's result, before `finished` looks at its sentences.

    `judges`: the orders of a search of width `CONFIDENCE_BEAM`, so that an order has the same confidence whatever beam
    found it.
    """
    if not found.orders or math.isnan(found.log_probabilities[0]):
        raise ConfigError(NO_NUMBERS)
    best = [
        Candidate(order, math.exp(score), score)
        for order, score in zip(found.orders, found.log_probabilities, strict=True)
    ]
    order = best[0].order
    shares = pair_shares(judges.orders, judges.log_probabilities)
    confidence = agreement(order, shares)
    if calibration is not None:
        evidence = Evidence(
            agreement=confidence,
            log_probability=found.log_probabilities[0],
            sentences=item.graph.sentences,
            pieces=pieces_per_sentence(item.words),
        )
        confidence = calibration.confidence(evidence)
        shares = agreeing(order, shares, confidence, calibration.distance)
    return Ordering(
        id=item.id,
        order=order,
        probability=best[0].probability,
        confidence=confidence,
        pairs=listed(shares),
        rounds=rounds,
        n_best=tuple(best[:n_best]),
    )


def pieces_per_sentence(words: Sequence[Sized]) -> float:
    """Mean length of the sentences, in what the model reads."""
    return sum(map(len, words)) / max(len(words), 1)


def finished(
    ordering: Ordering,
    document: Document,
    graph: Graph,
    keep_below: float | None,
    constraints: Constraints | None = None,
) -> Ordering:
    """Sentences, ties and reasons filled in, and the input order put back where the model is unsure and may do so."""
    texts = document.sentences
    given = tuple(range(len(texts)))
    copies = interchangeable(texts, constraints)
    ordering = replace(
        ordering,
        ties=tuple(tie for group in interchangeable(texts) for tie in pairwise(group)),
        given=texts,
        order=in_turn(ordering.order, copies),
        warnings=doubts(texts),
    )
    decided = np.zeros((len(texts), len(texts)), np.bool_)
    if constraints is not None:
        decided |= constraints.rules(len(texts)).decided
    for group in copies:  # whichever of them stands first, the text is the same
        decided[np.ix_(group, group)] |= np.triu(np.ones(len(group), np.bool_), 1)
    if decided.any():
        ordering = _with_certain_pairs(ordering, decided)
    unsure = keep_below is not None and ordering.confidence < keep_below
    if unsure and (constraints is None or constraints.input_meets_them):
        judged = ordering.judged and replace(ordering.judged, turned=())  # what is not shown is not turned either
        return replace(ordering, order=given, kept=True, judged=judged)
    different = [pair for pair in ordering.pairs if texts[pair.first] != texts[pair.second]]
    return replace(ordering, why=reasons(ordering.order, different, graph))


def _with_certain_pairs(ordering: Ordering, decided: NDArray[np.bool_]) -> Ordering:
    """The same, certain of the pairs that are decided, the row's sentence first."""
    certain = {(first, second): 1.0 for first, second in np.argwhere(decided).tolist()}
    certain |= {(second, first): 0.0 for first, second in certain}
    pairs = tuple(
        replace(pair, probability=certain.get((pair.first, pair.second), pair.probability)) for pair in ordering.pairs
    )
    if not pairs:
        return ordering
    position = np.argsort(ordering.order)
    right = [
        pair.probability if position[pair.first] < position[pair.second] else 1 - pair.probability for pair in pairs
    ]
    return replace(ordering, pairs=pairs, confidence=float(np.mean(right)))


def listed(chances: NDArray[np.float64]) -> tuple[PairProbability, ...]:
    """Every pair once, the lower index first."""
    first, second = np.triu_indices(len(chances), 1)
    rows = zip(first.tolist(), second.tolist(), chances[first, second].tolist(), strict=True)
    return tuple(PairProbability(one, other, probability) for one, other, probability in rows)


def pair_shares(orders: Sequence[Sequence[int]], log_probabilities: Sequence[float]) -> FloatArray:
    """(sentences, sentences) how often the row's sentence precedes the column's, orders weighed by probability."""
    size = len(orders[0])
    weight = np.exp(np.array(log_probabilities) - max(log_probabilities))
    weight /= weight.sum()
    shares = np.zeros((size, size))
    for share, order in zip(weight, orders, strict=True):  # one at a time: 64 orders of 500 would be 128 MB
        position = np.argsort(order)
        shares += share * (position[:, None] < position)
    return np.minimum(shares, 1.0)


def agreement(order: Sequence[int], shares: FloatArray) -> float:
    """Mean share of the pairs as the order has them; 1 for a single sentence."""
    if len(order) < 2:
        return 1.0
    first, second = _pairs_of(order)
    return float(shares[first, second].mean())


def agreeing(order: Sequence[int], shares: FloatArray, confidence: float, distance: float) -> FloatArray:
    """(sentences, sentences) pair probabilities whose mean, as the order has the pairs, is the confidence.

    Log-odds of the shares, plus `distance` times the logarithm of how far apart the order has a pair, are scaled by
    one number per document. Sentences far apart are less often the wrong way round than neighbours.
    """
    first, second = _pairs_of(order)
    evidence = pair_evidence(order, shares, distance)
    chance = scaled(evidence, confidence)
    found = np.full(shares.shape, 0.5)
    found[first, second], found[second, first] = chance, 1 - chance
    return found


def pair_evidence(order: Sequence[int], shares: FloatArray, distance: float) -> FloatArray:
    """(pairs,) in the order of `_pairs_of`: log-odds that the order has each pair the right way round."""
    first, second = _pairs_of(order)
    share = np.clip(shares[first, second], 1 - SUREST, SUREST)
    position = np.argsort(order)
    evidence: FloatArray = np.log(share / (1 - share)) + distance * np.log(position[second] - position[first])
    return evidence


def scaled(evidence: FloatArray, confidence: float) -> FloatArray:
    """The chances of log-odds times the one scale, at least 0, that makes their mean the confidence."""
    if not len(evidence):  # of a single sentence
        return evidence
    low, high = 0.0, STEEPEST
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _chance(middle * evidence).mean() < confidence else (low, middle)
    return _chance(low * evidence)


def _pairs_of(order: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every pair as the order has it: the earlier sentence and the later one."""
    numbers = np.asarray(order)
    first, second = np.triu_indices(len(numbers), 1)
    return numbers[first], numbers[second]


def _chance(odds: FloatArray) -> FloatArray:
    chance: FloatArray = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return chance
