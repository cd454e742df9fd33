"""How far to trust a judge, chosen on documents of known order; one that does not help is not used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from unshuffle.errors import DataError
from unshuffle.evaluation.predict import shuffled
from unshuffle.judge.contracts import Answers, Judge, Trust, put, trust_in
from unshuffle.judge.refinement import refine
from unshuffle.metrics.orders import align_repeats, tau
from unshuffle.rank.ranking import FloatArray
from unshuffle.result import Spend
from unshuffle.system.judging import chances
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

FEWEST = 10
"""Documents below which nothing is chosen."""
RELIABILITIES = (0.6, 0.7, 0.8, 0.9, 0.97)
TEMPERATURES = (1.0, 3.0, 8.0)
MODEL_WEIGHTS = (0.5, 1.0)
UNUSED = Trust(reliability=0.5)


class Remembering:
    """A judge that is asked about each pair of a text once, however many settings are tried."""

    def __init__(self, judge: Judge) -> None:
        self.judge, self.trust = judge, trust_in(judge)
        self.spend = Spend()
        self._known: dict[tuple[str, str, tuple[str, ...]], float | None] = {}

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> Answers:
        """From memory where it can."""
        keys = [(sentences[first], sentences[second], tuple(sentences)) for first, second in pairs]
        missing = [pair for pair, key in zip(pairs, keys, strict=True) if key not in self._known]
        given = put(self.judge, sentences, missing)
        self.spend = self.spend + given.spend
        self._known |= dict(zip((key for key in keys if key not in self._known), given, strict=True))
        return Answers([self._known[key] for key in keys], given.spend, given.failed)


@dataclass(frozen=True, slots=True)
class FittedTrust:
    """The trust that was chosen, and what it brings on the documents it was chosen on."""

    trust: Trust
    without: float
    """Tau of the model alone, in percent."""
    with_judge: float
    """Tau with the judge as it is trusted; the same where it is not used."""
    asked: float
    """Questions a document."""
    documents: int
    spend: Spend


@dataclass(frozen=True, slots=True, eq=False)
class Unjudged:
    """A shuffled document with what the model alone makes of it."""

    document: Document
    permutation: tuple[int, ...]
    """The true position of each sentence."""
    order: tuple[int, ...]
    chance: FloatArray

    def tau(self, order: Sequence[int]) -> float:
        """Of an order, in percent; equal sentences may stand for each other."""
        found = [self.permutation[number] for number in order]
        texts = {self.permutation[number]: text for number, text in enumerate(self.document.sentences)}
        aligned = align_repeats(found, range(len(found)), [texts[position] for position in range(len(found))])
        return 100 * tau(aligned, range(len(aligned)))


def unjudged(orderer: Orderer, documents: Sequence[Document], seed: int) -> list[Unjudged]:
    """The model's own orders and pair probabilities of documents of two sentences or more."""
    drawn = list(shuffled([one for one in documents if len(one.sentences) > 1], 0, seed))
    found = orderer.order_many([document for document, _ in drawn], n_best=1)
    return [
        Unjudged(document, tuple(permutation), ordering.order, chances(ordering.pairs, len(ordering.order)))
        for (document, permutation), ordering in zip(drawn, found, strict=True)
    ]


def fitted_trust(
    orderer: Orderer, judge: Judge, documents: Sequence[Document], *, questions: int = 20, seed: int = 1
) -> FittedTrust:
    """The setting with the best tau, if it beats the model alone by more than the standard error of the difference."""
    alone = unjudged(orderer, documents, seed)
    if len(alone) < FEWEST:
        raise DataError(f"trust: {len(alone)} documents of two sentences or more are too few. Give at least {FEWEST}.")
    remembering = Remembering(judge)
    base = np.array([one.tau(one.order) for one in alone])
    best = FittedTrust(UNUSED, base.mean(), base.mean(), 0.0, len(alone), Spend())
    for reliability, temperature, weight in product(RELIABILITIES, TEMPERATURES, MODEL_WEIGHTS):
        trust = Trust(reliability=reliability, temperature=temperature, model_weight=weight)
        found, asked = [], 0
        for one in alone:
            refined = refine(one.document.sentences, one.chance, remembering, questions=questions, trust=trust)
            answered = any(question.answer is not None for question in refined.questions)
            found.append(one.tau(refined.order if answered else one.order))
            asked += len(refined.questions)
        gain = np.array(found) - base
        error = gain.std() / len(gain) ** 0.5
        if gain.mean() > error and np.mean(found) > best.with_judge:
            best = replace(best, trust=trust, with_judge=float(np.mean(found)), asked=asked / len(alone))
    return replace(best, without=float(base.mean()), with_judge=float(best.with_judge), spend=remembering.spend)
