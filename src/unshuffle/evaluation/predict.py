"""Scoring a model on documents whose order is known; the model sees them shuffled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unshuffle.errors import DataError
from unshuffle.metrics.bootstrap import Band, Comparison, bootstrap_band, paired_bootstrap
from unshuffle.metrics.orders import align_repeats
from unshuffle.metrics.summary import OrderPair, Spread, Tally, spread, summarise
from unshuffle.result import Ordering
from unshuffle.seeds import derived
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

DRAWS = 2_000
FEWEST = 2
"""Documents below which resampling says nothing."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One shuffle of one document, in terms of its true order: `order[k]` is the true position of the k-th sentence.

    Of sentences with the same text, the k-th in the predicted order stands for the k-th in the true one.
    """

    id: str
    shuffle: int
    order: tuple[int, ...]
    confidence: float | None = None
    """What the model said of it; None for orders that no model has made."""


def shuffled(documents: Iterable[Document], shuffle: int, seed: int) -> Iterator[tuple[Document, list[int]]]:
    """Each document in a shuffle that depends on its number, the shuffle's and the seed."""
    for number, document in enumerate(documents):
        rng = np.random.default_rng(derived(seed, "shuffle", shuffle, number))
        permutation = rng.permutation(len(document.sentences)).tolist()
        yield document.permuted(permutation), permutation


def predict(
    orderer: Orderer,
    documents: Sequence[Document],
    *,
    shuffles: int = 3,
    seed: int = 1,
    beam: int | None = None,
    watch: Callable[[Iterator[Ordering]], Iterable[Ordering]] = iter,
) -> Iterator[Prediction]:
    """Orders every document once per shuffle; predictions come shuffle by shuffle.

    `watch` sees each order as it is made, for a bar that shows how far it is.
    """
    runs = [list(shuffled(documents, shuffle, seed)) for shuffle in range(shuffles)]
    # All shuffles of a document side by side: what stands in one batch several times is encoded once.
    stream = (run[number][0] for number in range(len(documents)) for run in runs)
    orderings = list(watch(orderer.order_many(stream, beam=beam, n_best=1)))
    for shuffle, run in enumerate(runs):
        for document, (_, permutation), ordering in zip(documents, run, orderings[shuffle::shuffles], strict=True):
            order = tuple(permutation[position] for position in ordering.order)
            # Told apart here, where the text is at hand, so that figures can be had from the predictions alone.
            aligned = align_repeats(order, range(len(order)), document.sentences)
            yield Prediction(document.id, shuffle, aligned, round(ordering.confidence, 4))


def orderable(predictions: Iterable[Prediction]) -> list[Prediction]:
    """Those of more than one sentence, since one alone is always right; all of them where there are no others."""
    given = list(predictions)
    return [prediction for prediction in given if len(prediction.order) > 1] or given


def figures(predictions: Iterable[Prediction]) -> Spread:
    """Mean and spread over shuffles, documents of one sentence left out where there are others.

    Sentences of equal text were told apart when the predictions were made.
    """
    by_shuffle: dict[int, list[OrderPair]] = {}
    for prediction in orderable(predictions):
        gold = tuple(range(len(prediction.order)))
        by_shuffle.setdefault(prediction.shuffle, []).append(OrderPair(prediction.order, gold))
    found = spread([summarise(pairs) for pairs in by_shuffle.values()])
    if found.runs == 1:
        return found
    documents = [{pair.predicted for pair in pairs} for pairs in zip(*by_shuffle.values(), strict=True)]
    return replace(found, changed=100 * sum(len(orders) > 1 for orders in documents) / len(documents))


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
    for one in orderable(predictions):
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
