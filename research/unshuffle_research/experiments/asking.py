"""Ways of asking a judge, and what each reaches at every number of questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unshuffle.evaluation.trust import Unjudged
from unshuffle.judge.contracts import Judge, Trust
from unshuffle.judge.ranker import PairRanker
from unshuffle.judge.refinement import Asking, refine
from unshuffle.metrics.bootstrap import paired_bootstrap
from unshuffle.seeds import derived
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

QUESTIONS = (0, 5, 10, 20, None)
"""None for every pair."""
WAYS = {
    "useful": "most useful pairs",
    "random": "random pairs",
    "ranker": "PairRanker, no model",
    "weights": "most useful pairs, as link weights",
}


class Oracle:
    """Knows the true order, and is right with a chance that is the same for every shuffle and question."""

    def __init__(self, documents: Sequence[Document], reliability: float, seed: int) -> None:
        self.trust = Trust(reliability=min(max(reliability, 0.501), 0.995), sure=0.99)
        self._right, self._seed = reliability, seed
        self._texts = {frozenset(document.sentences): document.sentences for document in documents}

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float]:
        """1 or 0."""
        true = self._texts[frozenset(sentences)]
        found = []
        for first, second in pairs:
            one, other = sentences[first], sentences[second]
            luck = np.random.default_rng(derived(self._seed, *sorted((one, other)))).random()
            found.append(float((true.index(one) < true.index(other)) == (luck < self._right)))
        return found


class Alone:
    """A judge without the trust that was fitted for a model's sake."""

    def __init__(self, judge: Judge) -> None:
        self.answers = judge.answers


@dataclass(frozen=True)
class Point:
    """One number of questions asked in one way."""

    way: str
    questions: int | None
    tau: float
    asked: float
    """Mean over documents; the judge may be asked less often than it could be."""
    share: float
    """The same as a share of all pairs."""
    gain: tuple[float, float, float]
    """Over the model alone, and its 95 % band by paired bootstrap over documents."""
    taus: tuple[float, ...] = field(repr=False)
    """Of each document."""


def ordered_usefully(one: Unjudged, judge: Judge, questions: int, trust: Trust) -> tuple[Sequence[int], int]:
    """As `Orderer.order` does for a model that is reranked."""
    found = refine(one.document.sentences, one.chance, judge, questions=questions, trust=trust)
    return (found.order if found.told else one.order), len(found.questions)


def ordered_by_lot(one: Unjudged, judge: Judge, questions: int, trust: Trust) -> tuple[Sequence[int], int]:
    """The same number of pairs, drawn by lot."""
    asking = Asking(one.document.sentences, one.chance, trust, None)
    first, second = np.triu_indices(len(asking.texts), 1)
    drawn = np.random.default_rng(derived(1, *sorted(asking.texts))).permutation(len(first))[:questions]
    pairs = [(int(first[at]), int(second[at])) for at in drawn if asking.texts[first[at]] != asking.texts[second[at]]]
    if not trust.used or not pairs:
        return one.order, 0
    asking.ask(judge, pairs)
    return asking.finished(None).order, len(pairs)


def ordered_without_model(one: Unjudged, judge: Judge, questions: int, trust: Trust) -> tuple[Sequence[int], int]:
    """By the judge alone, trusted as far as any: that it is no help to a model is no reason not to ask it here."""
    found = PairRanker(judge=Alone(judge), budget=questions).order(one.document.sentences)
    return found.order, found.calls


Ordered = Callable[[Unjudged, Judge, int, Trust], tuple[Sequence[int], int]]


def ways_of(orderer: Orderer) -> dict[str, Ordered]:
    """By name; the last only for a model that reads link weights."""
    ways: dict[str, Ordered] = {
        "useful": ordered_usefully,
        "random": ordered_by_lot,
        "ranker": ordered_without_model,
    }

    def by_weights(one: Unjudged, judge: Judge, questions: int, trust: Trust) -> tuple[Sequence[int], int]:
        found = orderer.order(one.document, judge=judge, questions=questions)
        return found.order, len(found.judged.questions) if found.judged else 0

    return ways | {"weights": by_weights} if orderer.model.judged else ways


def measured(alone: Sequence[Unjudged], judge: Judge, trust: Trust, ways: Mapping[str, Ordered]) -> list[Point]:
    """Every way at every number of questions."""
    base = np.array([one.tau(one.order) for one in alone])
    points = []
    for way, ordered in ways.items():
        for questions in QUESTIONS:
            pairs = np.array([len(one.order) * (len(one.order) - 1) // 2 for one in alone])
            most = [int(every) if questions is None else min(questions, int(every)) for every in pairs]
            found = [ordered(one, judge, limit, trust) for one, limit in zip(alone, most, strict=True)]
            reached = np.array([one.tau(order) for one, (order, _) in zip(alone, found, strict=True)])
            asked = np.array([count for _, count in found])
            band = paired_bootstrap(reached, base, np.random.default_rng(derived(1, "judge")), draws=2000)
            gain = tuple(round(value, 2) for value in (band.difference, band.lower, band.upper))
            points.append(
                Point(way, questions, round(float(reached.mean()), 2), round(float(asked.mean()), 2),
                      round(float(asked.sum() / pairs.sum()), 3), (gain[0], gain[1], gain[2]),
                      tuple(reached.round(2).tolist()))
            )  # fmt: skip
    return points


def share_right(judge: Judge, alone: Sequence[Unjudged]) -> float:
    """Percentage of all pairs that the judge alone puts right; one that it does not answer is half right."""
    right = count = 0.0
    for one in alone:
        asking = Asking(one.document.sentences, one.chance, Trust(), None)  # shows texts as in any other way
        first, second = np.triu_indices(len(asking.texts), 1)
        said = judge.answers(asking.texts, list(zip(first.tolist(), second.tolist(), strict=True)))
        position = np.array(one.permutation)[asking.labels]
        true = position[first] < position[second]
        chance = np.array([0.5 if answer is None else answer for answer in said])
        right += float(np.where(chance == 0.5, 0.5, (chance > 0.5) == true).sum())
        count += len(first)
    return round(100 * right / max(count, 1), 2)
