"""What answers hold, for OpenAPI; names are those of `unshuffle.result`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from unshuffle.serve.requests import SENTENCES, Pair

ORDERING: dict[str, Any] = {
    "id": "",
    "sentences": [*SENTENCES[1:], SENTENCES[0]],
    "order": [1, 2, 0],
    "input": SENTENCES,
    "warnings": [],
    "probability": 0.83,
    "log_probability": -0.186,
    "confidence": 0.94,
    "headline": {
        "level": "fair",
        "line": "Fairly sure of every step",
        "detail": "By its own estimate, about nine in ten pairs of sentences stand the right way round.",
        "doubtful": [],
        "doubt_below": 0.75,
    },
    "pairs": [[0, 1, 0.04], [0, 2, 0.08], [1, 2, 0.95]],
    "rounds": [{"weights": [[1, 2, 0.91]], "undecided": []}],
    "n_best": [
        {"order": [1, 2, 0], "probability": 0.83, "log_probability": -0.186},
        {"order": [1, 0, 2], "probability": 0.08, "log_probability": -2.526},
    ],
    "why": [{"first": 1, "second": 2, "probability": 0.95, "shared": ["apple"]}],
    "ties": [],
    "kept": False,
}

Row = Annotated[list[float], Field(min_length=3, max_length=3)]
Warnings = Annotated[list[str], Field(description="Why the answer may be wrong, such as text that is not English.")]
MentionRow = Annotated[list[int | str], Field(min_length=3, max_length=3)]


class Problem(BaseModel):
    """What went wrong, in one line, and the request's number in the log."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"error": "sentences[2]: it is blank.", "request": ""}]})

    error: str
    request: str


class RoundAnswer(BaseModel):
    """Link weights after one round of refinement, as rows [i, j, p]."""

    weights: list[Row]
    undecided: list[Pair]


class CandidateAnswer(BaseModel):
    """One order among the best."""

    order: list[int]
    probability: float
    log_probability: float


class ReasonAnswer(BaseModel):
    """A pair that speaks for the order."""

    first: int
    second: int
    probability: float
    shared: list[str]


class HeadlineAnswer(BaseModel):
    """How sure the model is, in words; step 1 leads from the first sentence to the second."""

    level: Literal["sure", "fair", "unsure"]
    line: str
    detail: str
    doubtful: list[int]
    """Steps worth checking."""
    doubt_below: float
    """The chance of standing the right way round below which a step is one of them."""


class OrderAnswer(BaseModel):
    """A document's best order; `pairs` are rows [i, j, chance that i comes before j]."""

    model_config = ConfigDict(json_schema_extra={"examples": [ORDERING]})

    id: str
    sentences: Annotated[list[str], Field(description="In reading order.")]
    order: Annotated[list[int], Field(description="Indices into `input`, in reading order.")]
    input: Annotated[list[str], Field(description="The sentences as given or as split.")]
    warnings: Warnings
    probability: float
    log_probability: float
    confidence: float
    headline: HeadlineAnswer
    pairs: list[Row]
    rounds: list[RoundAnswer]
    n_best: list[CandidateAnswer]
    why: list[ReasonAnswer]
    ties: list[Pair]
    kept: bool


class BatchAnswer(BaseModel):
    """An answer for each document, in the order in which they came."""

    orderings: list[OrderAnswer]


class TransitionAnswer(BaseModel):
    """How well one sentence follows another."""

    first: int
    second: int
    score: float
    weak: bool
    """Whether the model would rather have taken another sentence."""


class MoveAnswer(BaseModel):
    """A single move that would improve the order."""

    sentence: int
    to: int
    gain: float | None
    words: str
    """The gain as people say it."""


class ScoreAnswer(BaseModel):
    """How coherent the sentences are as they stand; `percentile` compares with random orders of them."""

    probability: float
    log_probability: float | None
    percentile: float
    verdict: str
    transitions: list[TransitionAnswer]
    moves: list[MoveAnswer]
    warnings: Warnings
    sentences: list[str]


class GraphAnswer(BaseModel):
    """Entities, rows [entity, sentence, role] of their mentions, and the linked pairs."""

    entities: list[str]
    mentions: list[MentionRow]
    links: list[Pair]
    relations: list[Pair]
    warnings: Warnings
    sentences: list[str]


class SplitAnswer(BaseModel):
    """The sentences of a text."""

    sentences: list[str]


class ModelsAnswer(BaseModel):
    """The models, first the one that answers where none is named, and what a request may hold."""

    models: list[dict[str, Any]]
    limits: dict[str, int]
    exercise_formats: Annotated[list[str], Field(description="Files that /v1/exercise/file can write here.")]


class HealthAnswer(BaseModel):
    """Whether the service takes requests."""

    status: Literal["ok", "stopping", "failed"]


class ProposalAnswer(BaseModel):
    """A change of the paragraph that makes its order clearer."""

    change: Literal["drop", "merge"]
    sentences: list[int]
    margin: float
    solves: bool
    result: list[str]


class RivalAnswer(BaseModel):
    """The most probable order other than the right one."""

    order: list[int]
    probability: float
    why: str


class ExerciseAnswer(BaseModel):
    """An exercise with its answer key."""

    items: list[str]
    labels: list[str]
    solution: list[int]
    unambiguous: bool
    margin: float
    difficulty: Literal["easy", "medium", "hard"]
    seed: int
    reason: str
    rival: RivalAnswer | None
    proposals: list[ProposalAnswer]
    changes: list[str]
    warnings: Warnings
