"""What ordering and scoring give back, under the same names in Python, JSON and HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, SupportsIndex

from unshuffle.headline import Headline, headline_of
from unshuffle.notebook import ordering_html, shortened


@dataclass(frozen=True, slots=True)
class PairProbability:
    """How probable it is that one sentence comes somewhere before another."""

    first: int
    second: int
    probability: float


@dataclass(frozen=True, slots=True)
class Round:
    """The link weights after one round of refinement; round 0 is the initial classifier (Lai et al., Algorithm 1)."""

    weights: tuple[PairProbability, ...]
    undecided: tuple[tuple[int, int], ...]
    """Linked pairs still inside the unsure band; their weight is 0.5."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One order among the best."""

    order: tuple[int, ...]
    probability: float
    log_probability: float = 0.0
    """Its natural logarithm, which does not underflow for long documents."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A pair that speaks for the order, and the entities that both its sentences mention."""

    first: int
    second: int
    probability: float
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge was asked about a pair, and what it said."""

    first: int
    second: int
    model: float
    """The chance that `first` comes before `second` before the judge was asked."""
    answer: float | None
    """The same by the judge; None where no usable answer came."""


@dataclass(frozen=True, slots=True)
class Spend:
    """What answers cost."""

    requests: int = 0
    """Sent over the network, repetitions after failures included."""
    cached: int = 0
    """Requests that were answered from the cache and so cost nothing."""
    tokens_read: int = 0
    tokens_written: int = 0
    """Tokens of prompts and of answers, as the endpoint counts them."""

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            self.requests + other.requests,
            self.cached + other.cached,
            self.tokens_read + other.tokens_read,
            self.tokens_written + other.tokens_written,
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge was asked about a document, what it cost, and what it changed."""

    questions: tuple[Question, ...]
    spend: Spend
    unjudged: tuple[int, ...]
    """The model's own order."""
    turned: tuple[tuple[int, int], ...]
    """Pairs that stand the other way round because of the answers: now the first comes first."""
    failed: str = ""
    """Why the judge, or some of the requests to it, failed; empty where nothing did."""


def _rows(pairs: tuple[PairProbability, ...]) -> list[list[float]]:
    return [[pair.first, pair.second, pair.probability] for pair in pairs]


@dataclass(frozen=True, slots=True, repr=False)
class Ordering:
    """A document's best order and how sure the model is of it."""

    id: str
    order: tuple[int, ...]
    """Input indices in reading order."""
    probability: float
    """What the model gives the best order it found, `n_best[0]`, among all orders."""
    confidence: float
    """Chance that two sentences of the document stand in their right relative order, calibrated where the model is."""
    pairs: tuple[PairProbability, ...]
    """Every pair i < j of input indices: the chance that i comes before j."""
    rounds: tuple[Round, ...]
    """How the link weights came about; none where the system has no refiner."""
    n_best: tuple[Candidate, ...]
    why: tuple[Reason, ...] = ()
    """The strongest pairs as the order has them; none where the input order was kept."""
    ties: tuple[tuple[int, int], ...] = ()
    """Pairs of sentences with the same text, which stand in input order; orders that differ in them alone are one."""
    kept: bool = False
    """Whether the input order was left as it was because the model was unsure."""
    judged: Judgement | None = None
    """What a judge was asked, and what it changed; None where there was none."""
    warnings: tuple[str, ...] = ()
    """Reasons not to rely on the order, such as text that is not English."""
    given: tuple[str, ...] = ()
    """The sentences as they came in; in the JSON `input`."""
    index: int = 0
    """Position of the document in the stream that it came in; not in the JSON."""

    @property
    def log_probability(self) -> float:
        """The natural logarithm of `probability`, which does not underflow for long documents."""
        return self.n_best[0].log_probability

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences in reading order."""
        return tuple(self.given[position] for position in self.order) if self.given else ()

    @property
    def text(self) -> str:
        """The sentences in reading order as running text."""
        return " ".join(sentence.strip() for sentence in self.sentences)

    @property
    def headline(self) -> Headline:
        """How sure the model is, in words, and which steps to check; equal sentences raise no doubt."""
        chances = {(pair.first, pair.second): pair.probability for pair in self.pairs}
        for tie in self.ties:
            chances.pop(tie, None)
        same = len(self.ties) == len(self.order) - 1  # each tie joins a sentence to the one before it of the same text
        return headline_of(self.order, self.confidence, chances, kept=self.kept, same=same)

    def __iter__(self) -> Iterator[str]:
        return iter(self.sentences)

    def __getitem__(self, position: SupportsIndex) -> str:
        return self.sentences[position]

    def __len__(self) -> int:
        return len(self.order)

    def __repr__(self) -> str:
        order = shortened(str(self.order)[1:-1], 40)
        kept = ", input order kept" if self.kept else ""
        named = f" '{self.id}'" if self.id else ""
        text = f": {shortened(self.text, 60)!r}" if self.given else ""
        return f"<Ordering{named} ({order}), confidence {self.confidence:.2f}{kept}{text}>"

    def _repr_html_(self) -> str:
        return ordering_html(self)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; pairs and weights are written as rows [i, j, p]. `judged` is there where a judge was asked."""
        plain = {
            "id": self.id,
            "sentences": list(self.sentences),
            "order": list(self.order),
            "input": list(self.given),
            "warnings": list(self.warnings),
            "probability": self.probability,
            "log_probability": self.log_probability,
            "confidence": self.confidence,
            "headline": asdict(self.headline) | {"doubtful": list(self.headline.doubtful)},
            "pairs": _rows(self.pairs),
            "rounds": [
                {"weights": _rows(step.weights), "undecided": [list(pair) for pair in step.undecided]}
                for step in self.rounds
            ],
            "n_best": [asdict(candidate) | {"order": list(candidate.order)} for candidate in self.n_best],
            "why": [asdict(reason) | {"shared": list(reason.shared)} for reason in self.why],
            "ties": [list(pair) for pair in self.ties],
            "kept": self.kept,
        }
        return plain if self.judged is None else plain | {"judged": asdict(self.judged)}


@dataclass(frozen=True, slots=True)
class SentenceGraph:
    """What the model's graph of a document holds."""

    sentences: int
    entities: tuple[str, ...]
    mentions: tuple[tuple[int, int, str], ...]
    """Entity, sentence, and the role: subject, object or other."""
    links: tuple[tuple[int, int], ...]
    relations: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Transition:
    """How well one sentence follows the one before it."""

    first: int
    second: int
    score: float
    """The model's probability of choosing `second` next among all that are left, given what was read so far.

    For the last sentence, which is the only one left, the chance that it stands there and not further up.
    """


SLIGHTLY, CLEARLY = 0.7, 2.3
"""Gains in log-probability from which on a move is offered (odds of 2 to 1), and is called clear (10 to 1)."""
WELL, POORLY = 95.0, 75.0
"""Percentiles from which on a text reads well, and below which its order is much like others."""


@dataclass(frozen=True, slots=True)
class Move:
    """Taking one sentence out and putting it elsewhere."""

    sentence: int
    to: int
    """The position, from 0, at which the sentence stands afterwards."""
    gain: float
    """How much higher the log-probability of the order is then."""

    @property
    def words(self) -> str:
        """The gain as people say it."""
        return "clearly better" if self.gain >= CLEARLY else "slightly better"


@dataclass(frozen=True, slots=True)
class Coherence:
    """How coherent a text is in the order in which it stands."""

    probability: float
    """What the model gives this order among all orders of these sentences."""
    log_probability: float
    """Its natural logarithm: the sum over all choices, that of the first sentence included."""
    percentile: float
    """Share, in percent, of other orders of the sentences that the model finds less probable; equals count half.

    All other orders of up to 6 sentences; beyond, 500 random ones, and fewer, down to 20, of more than 24 sentences.
    100 for a single sentence.
    """
    transitions: tuple[Transition, ...]
    """One for each sentence after the first."""
    moves: tuple[Move, ...]
    """The single moves that would improve the order most, best first, at most three, and only those worth making.

    Every move is tried; in texts of more than 24 sentences only short ones of the sentences that fit worst.
    """

    @property
    def verdict(self) -> str:
        """The figures as people say them; never sure of an order that a move would improve."""
        if not self.transitions:
            return "there is only one sentence"
        if any(move.gain >= CLEARLY for move in self.moves):
            return "one step is clearly out of place" if len(self.moves) == 1 else "some steps seem out of place"
        if self.percentile < POORLY:
            return "reads much like any other order"
        weak = sum(map(self.is_weak, self.transitions))
        but = "; a small change might help" if self.moves else ""
        if weak and not but:
            but = "; one step is weak" if weak == 1 else f"; {weak} steps are weak"
        return ("reads well" if self.percentile >= WELL else "reads fairly well") + but

    def is_weak(self, step: Transition) -> bool:
        """Whether the model, asked what comes next, would rather have taken another sentence."""
        size = len(self.transitions) + 1
        # The sentences that could have come there; for the last one, the positions it could have had.
        choices = size if step.second == size - 1 else size - step.second
        return step.score < 1 / choices

    def to_json(self) -> dict[str, Any]:
        """A JSON object, with what the figures mean in words."""
        return {
            **asdict(self),
            "verdict": self.verdict,
            "transitions": [asdict(step) | {"weak": self.is_weak(step)} for step in self.transitions],
            "moves": [asdict(move) | {"words": move.words} for move in self.moves],
        }
