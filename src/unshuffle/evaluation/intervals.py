"""How far a figure can be trusted: 95 % intervals by resampling the documents on which it was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from unshuffle.errors import DataError
from unshuffle.evaluation.predict import Prediction
from unshuffle.metrics.bootstrap import Band, Comparison, bootstrap_band, paired_bootstrap
from unshuffle.metrics.summary import OrderPair, Tally

DRAWS = 2_000
FEWEST = 2
"""Documents below which resampling says nothing."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure's value for one document, in percent, and what the document counts."""

    value: Callable[[Tally], float]
    weight: Callable[[Tally], int] = lambda one: 1
    """How much a document counts; one that counts nothing is left out."""


def _sentences(one: Tally) -> int:
    return one.sentences


MEASURES: Mapping[str, Measure] = {
    "tau": Measure(lambda one: 100 * one.tau),
    "pmr": Measure(lambda one: 100 * one.perfect),
    "acc_micro": Measure(lambda one: 100 * one.accuracy, _sentences),
    "acc_macro": Measure(lambda one: 100 * one.accuracy),
    "head": Measure(lambda one: 100 * one.head),
    "tail": Measure(lambda one: 100 * one.tail),
    "lcs_micro": Measure(lambda one: 100 * one.common_share, _sentences),
    "lcs_macro": Measure(lambda one: 100 * one.common_share),
    "within1": Measure(lambda one: 100 * one.within[0] / one.sentences, _sentences),
    "within2": Measure(lambda one: 100 * one.within[1] / one.sentences, _sentences),
    "within3": Measure(lambda one: 100 * one.within[2] / one.sentences, _sentences),
    "adjacent": Measure(lambda one: 100 * one.adjacent),
    "tau_pooled": Measure(lambda one: 100 * one.tau, lambda one: one.pairs),
}


def intervals(predictions: Iterable[Prediction]) -> dict[str, Band]:
    """The interval of each measure; none where there are too few documents."""
    tallies = _by_document(predictions)
    found = {}
    for name, measure in MEASURES.items():
        counted, weights = _counted(tallies, measure)
        if len(counted) >= FEWEST:
            found[name] = bootstrap_band(_values(counted, measure), _chance(), weights=weights, draws=DRAWS)
    return found


def gains(before: Iterable[Prediction], after: Iterable[Prediction]) -> dict[str, Comparison]:
    """What each measure gained from one set of predictions to another of the same documents, with its interval."""
    old, new = _by_document(before), _by_document(after)
    if [one[0].sentences for one in old] != [one[0].sentences for one in new]:
        raise DataError("gains: the predictions are of different documents. Give two sets of the same ones.")
    found = {}
    for name, measure in MEASURES.items():
        (was, weights), (now, _) = _counted(old, measure), _counted(new, measure)
        if len(now) >= FEWEST:
            values = _values(now, measure), _values(was, measure)
            found[name] = paired_bootstrap(*values, _chance(), weights=weights, draws=DRAWS)
    return found


def _by_document(predictions: Iterable[Prediction]) -> list[list[Tally]]:
    """The tallies of all shuffles of each document: shuffles are no further documents, and drawn together."""
    runs: dict[int, list[Tally]] = {}
    for one in predictions:
        pair = OrderPair(one.order, tuple(range(len(one.order))))
        runs.setdefault(one.shuffle, []).append(Tally.of(pair))
    return [list(tallies) for tallies in zip(*runs.values(), strict=True)]


def _counted(tallies: list[list[Tally]], measure: Measure) -> tuple[list[list[Tally]], list[int]]:
    """The documents that count for a measure, and how much each does."""
    weights = [measure.weight(shuffles[0]) for shuffles in tallies]
    counted = [shuffles for shuffles, weight in zip(tallies, weights, strict=True) if weight]
    return counted, [weight for weight in weights if weight]


def _values(tallies: list[list[Tally]], measure: Measure) -> list[float]:
    return [float(np.mean([measure.value(one) for one in shuffles])) for shuffles in tallies]


def _chance() -> np.random.Generator:
    """The same draws for every measure and every call, so that the same predictions give the same interval."""
    return np.random.default_rng(1)
