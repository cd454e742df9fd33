"""What requests and answers hold, for validation and OpenAPI; names are those of `unshuffle.result`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SENTENCES: list[Any] = ["Then she ate it.", "Mia picked an apple.", "She washed the apple."]
ORDERING: dict[str, Any] = {
    "id": "",
    "order": [1, 2, 0],
    "probability": 0.83,
    "confidence": 0.94,
    "pairs": [[0, 1, 0.04], [0, 2, 0.08], [1, 2, 0.95]],
    "rounds": [{"weights": [[1, 2, 0.91]], "undecided": []}],
    "n_best": [{"order": [1, 2, 0], "probability": 0.83}, {"order": [1, 0, 2], "probability": 0.08}],
    "why": [{"first": 1, "second": 2, "probability": 0.95, "shared": ["apple"]}],
    "ties": [],
    "kept": False,
    "sentences": SENTENCES,
}

MOST_PAIRS = 10_000
"""Rows of a constraint that are read at all."""

Beam = Annotated[int | None, Field(ge=1, le=64, description="Width of the search; left out: the model's own.")]
Best = Annotated[int, Field(ge=1, le=20, description="How many of the best orders to give back.")]
Unsure = Annotated[float | None, Field(ge=0, le=1, description="Keep the input order below this confidence.")]
Pair = Annotated[list[int], Field(min_length=2, max_length=2)]
Row = Annotated[list[float], Field(min_length=3, max_length=3)]
MentionRow = Annotated[list[int | str], Field(min_length=3, max_length=3)]


class Asked(BaseModel):
    """Base of what a request may hold: unknown fields and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Sentences(Asked):
    """A document: a list of sentences, or text to split."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sentences": SENTENCES}]})

    sentences: list[str] | None = None
    text: str | None = None
    split: Annotated[
        Literal["sentences", "lines"], Field(description="Where `text` is cut: at sentence or at line ends.")
    ] = "sentences"


class OrderRequest(Sentences):
    """A document to order."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sentences": SENTENCES, "n_best": 3}]})

    id: Annotated[str, Field(max_length=200)] = ""
    beam: Beam = None
    n_best: Best = 5
    keep_if_unsure: Unsure = None
    before: Annotated[
        list[Pair], Field(max_length=MOST_PAIRS, description="Rows [i, j]: sentence i comes before j, both from 0.")
    ] = []
    fixed: Annotated[
        list[Pair], Field(max_length=MOST_PAIRS, description="Rows [place, i]: sentence i stands at this place.")
    ] = []
    sources: Annotated[
        list[str | int | None],
        Field(max_length=MOST_PAIRS, description="Of each sentence; those of one source keep their input order."),
    ] = []


class BatchDocument(Sentences):
    """One of several documents."""

    id: Annotated[str, Field(max_length=200)] = ""


class BatchRequest(Asked):
    """Documents to order with the same options."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"documents": [{"id": "apple", "sentences": SENTENCES}]}]}
    )

    documents: list[BatchDocument]
    beam: Beam = None
    n_best: Best = 5
    keep_if_unsure: Unsure = None


class ExerciseRequest(Sentences):
    """A paragraph, in its right order, to make an exercise of."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sentences": SENTENCES[1:] + SENTENCES[:1], "seed": 7}]})

    seed: Annotated[int, Field(ge=0, le=2**31)] = 0
    margin: Annotated[float, Field(ge=0, le=1, description="Least lead of the best order over the second.")] = 0.4
    mend: Annotated[bool, Field(description="Drop or join sentences until the solution is unambiguous.")] = False


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


class ReasonAnswer(BaseModel):
    """A pair that speaks for the order."""

    first: int
    second: int
    probability: float
    shared: list[str]


class OrderAnswer(BaseModel):
    """A document's best order; `pairs` are rows [i, j, chance that i comes before j]."""

    model_config = ConfigDict(json_schema_extra={"examples": [ORDERING]})

    id: str
    order: list[int]
    probability: float
    confidence: float
    pairs: list[Row]
    rounds: list[RoundAnswer]
    n_best: list[CandidateAnswer]
    why: list[ReasonAnswer]
    ties: list[Pair]
    kept: bool
    sentences: list[str]
    """As given or as split, so that `order` can be read."""


class BatchAnswer(BaseModel):
    """An answer for each document, in the order in which they came."""

    orderings: list[OrderAnswer]


class TransitionAnswer(BaseModel):
    """How well one sentence follows another."""

    first: int
    second: int
    score: float


class MoveAnswer(BaseModel):
    """A single move that would improve the order."""

    sentence: int
    to: int
    gain: float | None


class ScoreAnswer(BaseModel):
    """How coherent the sentences are as they stand; `percentile` compares with random orders of them."""

    probability: float
    log_probability: float | None
    percentile: float
    transitions: list[TransitionAnswer]
    moves: list[MoveAnswer]
    sentences: list[str]


class GraphAnswer(BaseModel):
    """Entities, rows [entity, sentence, role] of their mentions, and the linked pairs."""

    entities: list[str]
    mentions: list[MentionRow]
    links: list[Pair]
    relations: list[Pair]
    sentences: list[str]


class SplitAnswer(BaseModel):
    """The sentences of a text."""

    sentences: list[str]


class ModelsAnswer(BaseModel):
    """The model that answers, and what a request may hold."""

    models: list[dict[str, Any]]
    limits: dict[str, int]


class HealthAnswer(BaseModel):
    """Whether the service takes requests."""

    status: Literal["ok", "stopping"]


class ProposalAnswer(BaseModel):
    """A change of the paragraph that makes its order clearer."""

    change: Literal["drop", "merge"]
    sentences: list[int]
    margin: float
    solves: bool
    result: list[str]


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
    proposals: list[ProposalAnswer]
    changes: list[str]
