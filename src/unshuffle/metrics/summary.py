"""A corpus's scores, from running sums that may be gathered in several processes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

from unshuffle.errors import DataError
from unshuffle.metrics.orders import align_repeats, gold_positions, inverted_pairs, longest_rise

DISTANCES = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class OrderPair:
    """A document's predicted and gold order."""

    predicted: tuple[int, ...]
    gold: tuple[int, ...]
    texts: tuple[str, ...] = ()
    """The sentences by number; where given, sentences of the same text are interchangeable."""

    def aligned(self) -> tuple[int, ...]:
        """The predicted order, copies of a text told apart as suits the gold order."""
        return align_repeats(self.predicted, self.gold, self.texts) if self.texts else self.predicted


@dataclass(frozen=True, slots=True)
class Score:
    """What a corpus scores, in percent; a document of one sentence counts as right in every measure."""

    tau: float
    """Mean over documents."""
    pmr: float
    """Share of documents whose whole order is right."""
    acc_micro: float
    """Share of all sentences at their position (B-TSort, SE-GRN, IRSE-GRN)."""
    acc_macro: float
    """Mean over documents of that share (BERSON)."""
    head: float
    tail: float
    lcs_micro: float
    lcs_macro: float
    within: tuple[float, float, float]
    """Share of all sentences at most 1, 2, 3 positions off."""
    adjacent: float
    """Mean over documents of the share of gold neighbours kept."""
    tau_pooled: float
    """One tau over the pairs of all documents, so that long documents weigh more."""
    documents: int
    sentences: int


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums over documents; tallies of parts of a corpus add up to the tally of the whole."""

    documents: int = 0
    sentences: int = 0
    tau: float = 0.0
    perfect: int = 0
    placed: int = 0
    accuracy: float = 0.0
    head: int = 0
    tail: int = 0
    common: int = 0
    common_share: float = 0.0
    within: tuple[int, int, int] = (0, 0, 0)
    adjacent: float = 0.0
    inversions: int = 0
    pairs: int = 0

    def __add__(self, other: Tally) -> Tally:
        """The tally of both sets of documents."""
        sums = {field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)}
        one, two, three = (mine + theirs for mine, theirs in zip(self.within, other.within, strict=True))
        sums["within"] = one, two, three
        return Tally(**sums)

    @classmethod
    def of(cls, pair: OrderPair) -> Tally:
        """The tally of one document."""
        positions = gold_positions(pair.aligned(), pair.gold)
        sentences = len(positions)
        pairs = sentences * (sentences - 1) // 2
        wrong = inverted_pairs(positions)
        off = [abs(position - at) for at, position in enumerate(positions)]
        placed, common = off.count(0), longest_rise(positions)
        one, two, three = (sum(distance <= limit for distance in off) for limit in DISTANCES)
        kept = sum(later == earlier + 1 for earlier, later in pairwise(positions))
        return cls(
            documents=1,
            sentences=sentences,
            tau=1 - 2 * wrong / pairs if pairs else 1.0,
            perfect=int(placed == sentences),
            placed=placed,
            accuracy=placed / sentences,
            head=int(off[0] == 0),
            tail=int(off[-1] == 0),
            common=common,
            common_share=common / sentences,
            within=(one, two, three),
            adjacent=kept / (sentences - 1) if pairs else 1.0,
            inversions=wrong,
            pairs=pairs,
        )

    def score(self) -> Score:
        """The sums as percentages."""
        if not self.documents:
            raise DataError("score: there is no document. Give at least one.")
        document, sentence = 100 / self.documents, 100 / self.sentences
        one, two, three = (count * sentence for count in self.within)
        return Score(
            tau=self.tau * document,
            pmr=self.perfect * document,
            acc_micro=self.placed * sentence,
            acc_macro=self.accuracy * document,
            head=self.head * document,
            tail=self.tail * document,
            lcs_micro=self.common * sentence,
            lcs_macro=self.common_share * document,
            within=(one, two, three),
            adjacent=self.adjacent * document,
            tau_pooled=100 - 200 * self.inversions / self.pairs if self.pairs else 100.0,
            documents=self.documents,
            sentences=self.sentences,
        )


def tally(pairs: Iterable[OrderPair]) -> Tally:
    """The tally of a stream of documents."""
    return sum((Tally.of(pair) for pair in pairs), Tally())


def summarise(pairs: Iterable[OrderPair]) -> Score:
    """The score of a stream of documents."""
    return tally(pairs).score()


def by_length(pairs: Iterable[OrderPair]) -> dict[int, Score]:
    """The score of the documents of each number of sentences, shortest first."""
    tallies: defaultdict[int, Tally] = defaultdict(Tally)
    for pair in pairs:
        tallies[len(pair.gold)] += Tally.of(pair)
    return {length: tallies[length].score() for length in sorted(tallies)}


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and sample standard deviation of scores over several shuffles or seeds of one corpus."""

    mean: Score
    sd: Score | None
    """None where there is one score only, which says nothing about spread."""
    runs: int
    changed: float | None = None
    """Percent of the documents whose text came out in more than one order; None where that is not known."""


def spread(scores: Sequence[Score]) -> Spread:
    """Mean and standard deviation, measure by measure; never the best of several shuffles."""
    if not scores:
        raise DataError("spread: there is no score. Give at least one.")
    if len({(score.documents, score.sentences) for score in scores}) > 1:
        raise DataError("spread: the scores are of different corpora. Give scores of one corpus.")
    means: dict[str, float] = {}
    deviations: dict[str, float] = {}
    rows = [_flat(score) for score in scores]
    for name in rows[0]:
        values = [row[name] for row in rows]
        means[name] = math.fsum(values) / len(values)
        squares = math.fsum((value - means[name]) ** 2 for value in values)
        deviations[name] = math.sqrt(squares / max(len(values) - 1, 1))
    sd = _unflat(deviations, scores[0]) if len(scores) > 1 else None
    return Spread(mean=_unflat(means, scores[0]), sd=sd, runs=len(scores))


def _flat(score: Score) -> dict[str, float]:
    flat = {field.name: getattr(score, field.name) for field in fields(score)}
    for name in ("within", "documents", "sentences"):
        del flat[name]
    return flat | {f"within{distance}": share for distance, share in zip(DISTANCES, score.within, strict=True)}


def _unflat(flat: dict[str, float], like: Score) -> Score:
    one, two, three = (flat.pop(f"within{distance}") for distance in DISTANCES)
    return Score(**flat, within=(one, two, three), documents=like.documents, sentences=like.sentences)
