"""What requests hold, for validation and OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SENTENCES: list[Any] = ["Then she ate it.", "Mia picked an apple.", "She washed the apple."]
MOST_PAIRS = 10_000
"""Rows of a constraint that are read at all."""

Beam = Annotated[int | None, Field(ge=1, le=64, description="Width of the search; left out: 8.")]
Best = Annotated[int, Field(ge=1, le=20, description="How many of the best orders to give back.")]
Unsure = Annotated[float | None, Field(ge=0, le=1, description="Keep the input order below this confidence.")]
Pair = Annotated[list[int], Field(min_length=2, max_length=2)]


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
