"""From what the network found to the result that users see."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unshuffle.errors import ConfigError
from unshuffle.graph.item import Item
from unshuffle.rank.constraints import Constraints
from unshuffle.result import Candidate, Ordering, PairProbability, Round
from unshuffle.search.contracts import Found
from unshuffle.system.calibration import Calibration, Evidence
from unshuffle.system.explain import reasons
from unshuffle.system.pair_chances import agreeing, agreement, pair_shares
from unshuffle.text.document import Document


def assembled(
    item: Item, found: Found, rounds: tuple[Round, ...], *, n_best: int, calibration: Calibration | None
) -> Ordering:
    """A document's result, before ties and the wish to keep unsure orders are looked at."""
    if not found.orders or math.isnan(found.log_probabilities[0]):
        raise ConfigError("model: its weights give no order: they are not numbers, or too large. Use another model.")
    best = [
        Candidate(order, math.exp(score), score)
        for order, score in zip(found.orders, found.log_probabilities, strict=True)
    ]
    order = best[0].order
    shares = pair_shares(found.orders, found.log_probabilities)
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
    for group in same.values():
        if len(group) > 1 and constraints is None:  # equal sentences stand in the order in which they were given
            places = sorted(order.index(number) for number in group)
            for place, number in zip(places, group, strict=True):
                order[place] = number
    ordering = replace(ordering, ties=ties, given=document.sentences, order=tuple(order))
    unsure = keep_below is not None and ordering.confidence < keep_below
    if unsure and (constraints is None or constraints.input_meets_them):
        return replace(ordering, order=given, why=(), kept=True)
    return ordering


def listed(chances: NDArray[np.float64]) -> tuple[PairProbability, ...]:
    """Every pair once, the lower index first."""
    first, second = np.triu_indices(len(chances), 1)
    rows = zip(first.tolist(), second.tolist(), chances[first, second].tolist(), strict=True)
    return tuple(PairProbability(one, other, probability) for one, other, probability in rows)
