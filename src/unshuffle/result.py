"""What ordering and scoring give back, under the same names in Python, JSON and HTTP."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


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


@dataclass(frozen=True, slots=True)
class Reason:
    """A pair that speaks for the order, and the entities that both its sentences mention."""

    first: int
    second: int
    probability: float
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ordering:
    """A document's best order and how sure the model is of it."""

    id: str
    order: tuple[int, ...]
    """Input indices in reading order."""
    probability: float
    """What the model gives this order among all orders."""
    confidence: float
    """Chance that two sentences of the document stand in their right relative order, calibrated where the model is."""
    pairs: tuple[PairProbability, ...]
    """Every pair i < j of input indices: the chance that i comes before j."""
    rounds: tuple[Round, ...]
    n_best: tuple[Candidate, ...]
    why: tuple[Reason, ...] = ()
    ties: tuple[tuple[int, int], ...] = ()
    """Pairs of sentences with the same text: either may stand in the other's place."""
    kept: bool = False
    """Whether the input order was left as it was because the model was unsure."""

    def to_json(self) -> dict[str, Any]:
        """A JSON object; pairs and weights are written as rows [i, j, p]."""
        plain = asdict(self)
        plain["pairs"] = [[pair.first, pair.second, pair.probability] for pair in self.pairs]
        plain["rounds"] = [
            {
                "weights": [[pair.first, pair.second, pair.probability] for pair in step.weights],
                "undecided": [list(pair) for pair in step.undecided],
            }
            for step in self.rounds
        ]
        return plain


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
    """How well one sentence follows another where it stands."""

    first: int
    second: int
    score: float
    """The model's probability of choosing `second` next, given all that was read before it."""


@dataclass(frozen=True, slots=True)
class Move:
    """Taking one sentence out and putting it elsewhere, and what the order's log-probability gains."""

    sentence: int
    to: int
    gain: float


@dataclass(frozen=True, slots=True)
class Coherence:
    """How coherent a text is in the order in which it stands."""

    probability: float
    log_probability: float
    percentile: float
    """Share, in percent, of random orders of the same sentences that the model finds less probable."""
    transitions: tuple[Transition, ...]
    moves: tuple[Move, ...]
    """The single moves that would improve the order most, best first."""

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)
