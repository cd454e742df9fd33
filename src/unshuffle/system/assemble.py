"""From what the network found to the result that users see: orders, pair probabilities, reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from dataclasses import replace
from heapq import nsmallest
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unshuffle.errors import ConfigError
from unshuffle.graph.build import Graph
from unshuffle.graph.prepare import Item
from unshuffle.rank.constraints import Constraints
from unshuffle.result import Candidate, Ordering, PairProbability, Reason, Round
from unshuffle.search.contracts import Found
from unshuffle.system.calibration import Calibration, Evidence
from unshuffle.system.options import DEFAULT_BEAM
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
MOST = 5
"""Reasons that are given."""
SPEAKS = 0.5
"""A pair speaks for an order from above this probability on."""


NO_NUMBERS = "model: its weights give no order: they are not numbers, or too large. Use another model."


def assembled(
    item: Item, found: Found, judges: Found, rounds: tuple[Round, ...], *, n_best: int, calibration: Calibration | None
) -> Ordering:
    """A document's result, before ties and the wish to keep unsure orders are looked at.

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
    pairs = listed(shares)
    return Ordering(
        id=item.id,
        order=order,
        probability=best[0].probability,
        confidence=confidence,
        pairs=pairs,
        rounds=rounds,
        n_best=tuple(best[:n_best]),
        why=reasons(order, pairs, item.graph),
    )


def pieces_per_sentence(words: Sequence[Sized]) -> float:
    """Mean length of the sentences, in what the model reads."""
    return sum(map(len, words)) / max(len(words), 1)


def finished(
    ordering: Ordering, document: Document, keep_below: float | None, constraints: Constraints | None = None
) -> Ordering:
    """Sentences and ties filled in, and the input order put back where the model is unsure and it breaks no rule."""
    same: dict[str, list[int]] = {}
    for number, sentence in enumerate(document.sentences):
        same.setdefault(sentence, []).append(number)
    ties = tuple((first, second) for group in same.values() for first, second in pairwise(group))
    given = tuple(range(len(document.sentences)))
    order = list(ordering.order)
    rules = None if constraints is None else constraints.rules(len(given))
    bound = rules is not None and rules.bind
    for group in same.values():
        if len(group) > 1 and not bound:  # equal sentences stand in the order in which they were given
            positions = sorted(order.index(number) for number in group)
            for position, number in zip(positions, group, strict=True):
                order[position] = number
    ordering = replace(
        ordering,
        ties=ties,
        given=document.sentences,
        order=tuple(order),
        warnings=doubts(document.sentences),
    )
    if rules is not None and bound:
        ordering = _with_certain_pairs(ordering, rules.decided)
    unsure = keep_below is not None and ordering.confidence < keep_below
    if unsure and (constraints is None or constraints.input_meets_them):
        judged = ordering.judged and replace(ordering.judged, turned=())  # what is not shown is not turned either
        return replace(ordering, order=given, why=(), kept=True, judged=judged)
    return ordering


def _with_certain_pairs(ordering: Ordering, decided: NDArray[np.bool_]) -> Ordering:
    """The same, certain of the pairs that the constraints leave no choice about."""
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


def reasons(
    order: Sequence[int], pairs: Sequence[PairProbability], graph: Graph, most: int = MOST
) -> tuple[Reason, ...]:
    """The strongest pairs, each as the order has it, strongest first.

    Looked at are neighbours in the order and the surest other pairs. Among pairs about as sure, to a tenth, those come
    first that share more entities, then those that stand closer together.
    """
    position = np.argsort(order).tolist()
    held = {}
    for pair in pairs:
        turned = position[pair.first] > position[pair.second]
        one, other = (pair.second, pair.first) if turned else (pair.first, pair.second)
        held[one, other] = 1 - pair.probability if turned else pair.probability
    mentioned = entities_by_sentence(graph)

    def strength(pair: tuple[int, int]) -> tuple[float, int, int, int]:
        one, other = pair
        common = len(mentioned[one] & mentioned[other])
        return -round(held[pair], 1), -common, position[other] - position[one], position[one]

    looked_at = {*pairwise(order), *nsmallest(most, held, key=strength)}
    strongest = nsmallest(most, (pair for pair in looked_at if held[pair] > SPEAKS), key=strength)
    return tuple(
        Reason(one, other, held[one, other], tuple(sorted(mentioned[one] & mentioned[other])))
        for one, other in strongest
    )


def entities_by_sentence(graph: Graph) -> list[set[str]]:
    """The entities that each sentence mentions."""
    mentioned: list[set[str]] = [set() for _ in range(graph.sentences)]
    for entity, sentence in graph.mentions.T.tolist():
        mentioned[sentence].add(graph.words[entity])
    return mentioned
