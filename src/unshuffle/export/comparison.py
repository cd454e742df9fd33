"""Several forms of one model on the same shuffled documents, in turn: orders, and the time they take."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev

import torch

from unshuffle.evaluation.predict import Prediction, figures, shuffled
from unshuffle.metrics.orders import align_repeats, tau
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

AT_ONCE = 32
"""Documents that one form orders before it is the next one's turn: what disturbs the machine disturbs all alike."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One form of the model."""

    tau: float
    """In points, 100 at most."""
    error: float
    """Standard error of what tau differs by from the first form's."""
    seconds: float
    same: float
    """Share of documents that it orders as the first form does."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All forms, by name."""

    measured: dict[str, Measured]
    parsing: float
    threads: int


def compared(models: Mapping[str, Orderer], documents: Sequence[Document], *, seed: int) -> Comparison:
    """Orders each document once with each model; the first of them parses."""
    # With one thread the processor's time is told, for other programs have no part in it.
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    first = next(iter(models.values()))
    start = clock()
    parsed = list(first.parser.mentions(documents))
    parsing = clock() - start
    drawn = list(shuffled(parsed, 0, seed))
    for model in models.values():
        list(model.order_many([drawn[0][0]], n_best=1))  # the first call also sets up what the others use
    orders: dict[str, list[tuple[int, ...]]] = {name: [] for name in models}
    seconds = dict.fromkeys(models, 0.0)
    for begin in range(0, len(drawn), AT_ONCE):
        some = [document for document, _ in drawn[begin : begin + AT_ONCE]]
        for name, model in models.items():
            start = clock()
            orders[name] += [ordering.order for ordering in model.order_many(some, n_best=1)]
            seconds[name] += clock() - start
    predictions = {
        name: [
            _prediction(document, permutation, order)
            for document, (_, permutation), order in zip(parsed, drawn, found, strict=True)
        ]
        for name, found in orders.items()
    }
    reference = predictions[next(iter(models))]
    measured = {
        name: Measured(figures(found).mean.tau, _error(found, reference), seconds[name], _same(found, reference))
        for name, found in predictions.items()
    }
    return Comparison(measured, parsing, torch.get_num_threads())


def _prediction(document: Document, permutation: Sequence[int], order: Sequence[int]) -> Prediction:
    places = tuple(permutation[place] for place in order)
    return Prediction(document.id, 0, align_repeats(places, range(len(places)), document.sentences))


def _same(found: Sequence[Prediction], reference: Sequence[Prediction]) -> float:
    return sum(one == other for one, other in zip(found, reference, strict=True)) / len(found)


def _error(found: Sequence[Prediction], reference: Sequence[Prediction]) -> float:
    """In points, over documents of two sentences or more; 0 where there is only one."""
    lost = [
        100 * (tau(one.order, sorted(one.order)) - tau(other.order, sorted(other.order)))
        for one, other in zip(found, reference, strict=True)
        if len(one.order) > 1
    ]
    return stdev(lost) / len(lost) ** 0.5 if len(lost) > 1 else 0.0
