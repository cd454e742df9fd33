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
    by_sentence: bool = False
    """Whether long documents count more."""


MEASURES: Mapping[str, Measure] = {
    "tau": Measure(lambda one: 100 * one.tau),
    "pmr": Measure(lambda one: 100 * one.perfect),
    "acc_micro": Measure(lambda one: 100 * one.accuracy, by_sentence=True),
    "acc_macro": Measure(lambda one: 100 * one.accuracy),
    "head": Measure(lambda one: 100 * one.head),
    "tail": Measure(lambda one: 100 * one.tail),
    "lcs_micro": Measure(lambda one: 100 * one.common_share, by_sentence=True),
    "lcs_macro": Measure(lambda one: 100 * one.common_share),
    "adjacent": Measure(lambda one: 100 * one.adjacent),
}


def intervals(predictions: Iterable[Prediction]) -> dict[str, Band]:
    """The interval of each measure; none where there are too few documents."""
    tallies = _by_document(predictions)
    if len(tallies) < FEWEST:
        return {}
    weights = _weights(tallies)
    return {
        name: bootstrap_band(
            _values(tallies, measure), _chance(), weights=weights if measure.by_sentence else None, draws=DRAWS
        )
        for name, measure in MEASURES.items()
    }


def gains(before: Iterable[Prediction], after: Iterable[Prediction]) -> dict[str, Comparison]:
    """What each measure gained from one set of predictions to another of the same documents, with its interval."""
    old, new = _by_document(before), _by_document(after)
    if [one[0].sentences for one in old] != [one[0].sentences for one in new]:
        raise DataError("gains: the predictions are of different documents. Give two sets of the same ones.")
    if len(new) < FEWEST:
        return {}
    weights = _weights(new)
    return {
        name: paired_bootstrap(
            _values(new, measure),
            _values(old, measure),
            _chance(),
            weights=weights if measure.by_sentence else None,
            draws=DRAWS,
        )
        for name, measure in MEASURES.items()
    }


def _by_document(predictions: Iterable[Prediction]) -> list[list[Tally]]:
    """The tallies of all shuffles of each document: shuffles are no further documents, and drawn together."""
    runs: dict[int, list[Tally]] = {}
    for one in predictions:
        pair = OrderPair(one.order, tuple(range(len(one.order))))
        runs.setdefault(one.shuffle, []).append(Tally.of(pair))
    return [list(tallies) for tallies in zip(*runs.values(), strict=True)]


def _values(tallies: list[list[Tally]], measure: Measure) -> list[float]:
    return [float(np.mean([measure.value(one) for one in shuffles])) for shuffles in tallies]


def _weights(tallies: list[list[Tally]]) -> list[int]:
    return [shuffles[0].sentences for shuffles in tallies]


def _chance() -> np.random.Generator:
    """The same draws for every measure and every call, so that the same predictions give the same interval."""
    return np.random.default_rng(1)
