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
from unshuffle.seeds import derived
from unshuffle.system.judging import chances
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

FEWEST = 10
"""Documents below which nothing is chosen."""
RELIABILITIES = (0.6, 0.7, 0.8, 0.9, 0.97)
TEMPERATURES = (0.2, 1.0, 3.0, 8.0)
"""Below 1 for judges that are surer than they say: small language models stay near even odds."""
MODEL_WEIGHTS = (0.5, 1.0)
UNUSED = Trust(reliability=0.5)
ERRORS = 2.0
"""Standard errors that a gain must exceed."""


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
    """The setting that gains most, if what is so chosen on one half of the documents also gains on the other half.

    Among so many settings one looks good by luck alone, on the documents it was chosen on.
    """
    alone = unjudged(orderer, documents, seed)
    if len(alone) < FEWEST:
        raise DataError(f"trust: {len(alone)} documents of two sentences or more are too few. Give at least {FEWEST}.")
    remembering = Remembering(judge)
    tried = [
        _tried(
            Trust(reliability=reliability, temperature=temperature, model_weight=weight), alone, remembering, questions
        )
        for reliability, temperature, weight in product(RELIABILITIES, TEMPERATURES, MODEL_WEIGHTS)
    ]
    without = float(np.mean([one.tau(one.order) for one in alone]))
    gains = np.stack([one.gains for one in tried])  # (settings, documents, 2)
    unused = FittedTrust(UNUSED, without, without, 0.0, len(alone), remembering.spend)
    if not helps(gains, seed):
        return unused
    best = tried[_best(gains)]
    with_judge = without + float(best.gains[:, 0].mean())
    return replace(unused, trust=best.trust, with_judge=with_judge, asked=best.asked)


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """What one setting does on each document."""

    trust: Trust
    gains: FloatArray  # (documents, 2) in tau, over the model's own order and over its pairs ranked without answers
    asked: float


def _tried(trust: Trust, alone: Sequence[Unjudged], judge: Judge, questions: int) -> Tried:
    gains, asked = np.zeros((len(alone), 2)), 0
    for gain, one in zip(gains, alone, strict=True):
        refined = refine(one.document.sentences, one.chance, judge, questions=questions, trust=trust)
        asked += len(refined.questions)
        if refined.told:
            gain[:] = one.tau(refined.order) - np.array([one.tau(one.order), one.tau(refined.unanswered)])
    return Tried(trust, gains, asked / len(alone))


def helps(gains: FloatArray, seed: int) -> bool:
    """Whether settings chosen on each half of the documents gain on the other; `gains`: (settings, documents, 2)."""
    documents = gains.shape[1]
    first = np.random.default_rng(derived(seed, "trust")).permutation(documents) % 2 == 0
    unseen = np.zeros(gains.shape[1:])
    for half in (first, ~first):
        unseen[~half] = gains[_best(gains[:, half])][~half]
    error = unseen.std(0) / documents**0.5
    return bool((unseen.mean(0) > ERRORS * error).all())


def _best(gains: FloatArray) -> int:
    """The setting whose smaller mean gain is largest."""
    return int(gains.mean(1).min(1).argmax())
