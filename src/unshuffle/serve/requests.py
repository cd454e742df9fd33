"""What requests hold, for validation and OpenAPI."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from unshuffle.exercises.sheet import TITLE

SENTENCES: list[Any] = ["Then she ate it.", "Mia picked an apple.", "She washed the apple."]
MOST = 10_000
"""Entries of a list that are read at all: hundreds of thousands of wrong ones would take seconds to refuse."""

Beam = Annotated[int | None, Field(ge=1, le=64, description="Width of the search; left out: 8.")]
Best = Annotated[int | None, Field(ge=1, le=20, description="How many of the best orders to give back; left out: 5.")]
Unsure = Annotated[
    Annotated[float, Field(ge=0, le=1)] | Literal["auto"] | None,
    Field(description="Keep the input order below this confidence; `auto`: below the threshold stored with the model."),
]
Pair = Annotated[list[int], Field(min_length=2, max_length=2, fail_fast=True)]
Entry = TypeVar("Entry")
Entries = Annotated[list[Entry], Field(max_length=MOST, fail_fast=True)]


def _schema(example: dict[str, Any]) -> dict[str, Any]:
    """Of a document: an example, and that it has either sentences or text."""
    either = [
        {"required": [name], "properties": {name: {"type": type}}}
        for name, type in (("sentences", "array"), ("text", "string"))
    ]
    return {"examples": [example], "oneOf": either}


class Asked(BaseModel):
    """Base of what a request may hold: unknown fields and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, given: Any) -> Any:
        """Of many unknown fields keep one: it is enough to refuse the request, and the rest would take long."""
        if not isinstance(given, dict) or len(given) <= len(cls.model_fields):
            return given
        unknown = islice((name for name in given if name not in cls.model_fields), 1)
        return {name: given[name] for name in (*cls.model_fields, *unknown) if name in given}


class Sentences(Asked):
    """A document: a list of sentences, or text to split."""

    model_config = ConfigDict(json_schema_extra=_schema({"sentences": SENTENCES}))

    sentences: Entries[str] | None = None
    text: str | None = None
    split: Annotated[
        Literal["sentences", "lines"], Field(description="Where `text` is cut: at sentence or at line ends.")
    ] = "sentences"


class OrderRequest(Sentences):
    """A document to order."""

    model_config = ConfigDict(json_schema_extra=_schema({"sentences": SENTENCES, "n_best": 3}))

    id: Annotated[str, Field(max_length=200)] = ""
    model: Annotated[
        str | None, Field(max_length=200, description="Name of a model that the service has loaded; see /v1/models.")
    ] = None
    beam: Beam = None
    n_best: Best = None
    keep_if_unsure: Unsure = None
    before: Annotated[Entries[Pair], Field(description="Rows [i, j]: sentence i comes before j, both from 0.")] = []
    fixed: Annotated[Entries[Pair], Field(description="Rows [position, i]: sentence i stands at this position.")] = []
    sources: Annotated[
        Entries[str | int | None],
        Field(description="Of each sentence; those of one source keep their input order."),
    ] = []


class BatchDocument(Sentences):
    """One of several documents."""

    id: Annotated[str, Field(max_length=200)] = ""


class BatchRequest(Asked):
    """Documents to order with the same options."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"documents": [{"id": "apple", "sentences": SENTENCES}]}]}
    )

    documents: Entries[BatchDocument]
    beam: Beam = None
    n_best: Best = None
    keep_if_unsure: Unsure = None


class ExerciseRequest(Sentences):
    """A paragraph, in its right order, to make an exercise of."""

    model_config = ConfigDict(json_schema_extra=_schema({"sentences": SENTENCES[1:] + SENTENCES[:1], "seed": 7}))

    seed: Annotated[int, Field(ge=0, le=2**31)] = 0
    margin: Annotated[float, Field(ge=0, le=1, description="Least lead of the best order over the second.")] = 0.4
    mend: Annotated[bool, Field(description="Drop or join sentences until the solution is unambiguous.")] = False


class ExerciseFileRequest(ExerciseRequest):
    """The same, and what file to write it to."""

    model_config = ConfigDict(
        json_schema_extra=_schema({"sentences": SENTENCES[1:] + SENTENCES[:1], "seed": 7, "format": "docx"})
    )

    format: Annotated[Literal["pdf", "docx"], Field(description="One of `exercise_formats` of /v1/models.")]
    title: Annotated[str, Field(max_length=120, description="Heading of the sheet.")] = TITLE


BODIES: dict[str, type[Asked]] = {
    "/v1/order": OrderRequest,
    "/v1/order/batch": BatchRequest,
    "/v1/exercise": ExerciseRequest,
    "/v1/exercise/file": ExerciseFileRequest,
}
"""What an address takes where that is more than a document."""


def advice_on(path: str, place: Sequence[str | int]) -> str:
    """What to do about a field that an address does not take; `place`: the way to it in the body."""
    shape = BatchDocument if len(place) > 1 else BODIES.get(path, Sentences)
    known = list(shape.model_fields)
    near = get_close_matches(str(place[-1]), known, 1)
    return f"Did you mean '{near[0]}'?" if near else f"Known are: {', '.join(known)}."
