"""The addresses of the service: each reads a request, asks the model, and answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from starlette.responses import Response

from unshuffle.errors import DataError
from unshuffle.exercises.make import exercise_steps
from unshuffle.exercises.sheet import label
from unshuffle.result import Ordering
from unshuffle.serve.answers import answer
from unshuffle.serve.batching import Batcher
from unshuffle.serve.body import StrictRoute
from unshuffle.serve.contract import Model
from unshuffle.serve.cost import (
    check_document_cost,
    check_request_cost,
    exercise_cost,
    order_cost,
    reading_cost,
    score_cost,
)
from unshuffle.serve.jobs import Search
from unshuffle.serve.limits import read_constraints, read_sentences, warnings_about
from unshuffle.serve.requests import BatchRequest, ExerciseRequest, OrderRequest, Sentences
from unshuffle.serve.schemas import (
    BatchAnswer,
    ExerciseAnswer,
    GraphAnswer,
    ModelsAnswer,
    OrderAnswer,
    Problem,
    ScoreAnswer,
    SplitAnswer,
)
from unshuffle.serve.settings import Settings
from unshuffle.steps import Steps
from unshuffle.text.document import Document

Result = TypeVar("Result")

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": description}
    for status, description in {
        400: "The header cannot be understood.",
        401: "The token is missing or wrong.",
        408: "The body came too slowly.",
        413: "The body is too large.",
        415: "The body is not sent as JSON.",
        421: "The service is not known by the name in the Host header.",
        422: "The request cannot be read, asks for more than allowed, or would cost more than allowed.",
        503: "Too much is waiting; Retry-After says when to try again.",
        504: "The answer took too long.",
    }.items()
}


class Routes:
    """The handlers, with what they share."""

    def __init__(self, model: Model, batcher: Batcher, settings: Settings) -> None:
        self.model = model
        self.batcher = batcher
        self.limits = settings.limits
        self.router = APIRouter(prefix="/v1", route_class=StrictRoute, responses=PROBLEMS)
        posts: dict[str, tuple[Callable[..., Any], Any]] = {
            "/order": (self.order, OrderAnswer),
            "/order/batch": (self.order_batch, BatchAnswer),
            "/score": (self.score, ScoreAnswer),
            "/graph": (self.graph, GraphAnswer),
            "/split": (self.split, SplitAnswer),
            "/exercise": (self.exercise, ExerciseAnswer),
        }
        for path, (handler, shape) in posts.items():
            self.router.add_api_route(path, handler, methods=["POST"], response_model=shape)
        self.posted = frozenset(f"/v1{path}" for path in posts)
        self.router.add_api_route("/models", self.models, methods=["GET"], response_model=ModelsAnswer)

    async def order(self, asked: OrderRequest, request: Request) -> Response:
        """Find the order in which sentences read best."""
        sentences, warnings = await self._read(asked, request)
        cost = order_cost(sentences, asked.beam, asked.n_best)
        check_document_cost(cost, self.limits)
        known = read_constraints(asked, len(sentences))
        search = Search(asked.beam, asked.n_best, asked.keep_if_unsure, known)
        (ordering,) = await self.batcher.order([Document(sentences, id=asked.id)], [cost], search)
        return answer(_ordering(ordering, sentences, warnings))

    async def order_batch(self, asked: BatchRequest, request: Request) -> Response:
        """Order several documents."""
        if not asked.documents:
            raise DataError("documents: there is none. Give at least one.")
        if len(asked.documents) > self.limits.documents:
            raise DataError(f"documents: {len(asked.documents)} are too many. Give at most {self.limits.documents}.")
        read = [await self._read(one, request, f"documents[{place}].") for place, one in enumerate(asked.documents)]
        costs = [order_cost(sentences, asked.beam, asked.n_best) for sentences, _ in read]
        for place, cost in enumerate(costs):
            check_document_cost(cost, self.limits, f"documents[{place}].")
        check_request_cost(sum(costs), self.limits, "Send fewer documents at once, or a smaller beam.")
        documents = [Document(sentences, id=one.id) for (sentences, _), one in zip(read, asked.documents, strict=True)]
        search = Search(asked.beam, asked.n_best, asked.keep_if_unsure)
        orderings = await self.batcher.order(documents, costs, search)
        found = [_ordering(ordering, *texts) for ordering, texts in zip(orderings, read, strict=True)]
        return answer({"orderings": found})

    async def score(self, asked: Sentences, request: Request) -> Response:
        """Say how coherent sentences are as they stand, and which move would help most."""
        sentences, warnings = await self._read(asked, request)
        check_document_cost(reading_cost(sentences), self.limits)
        coherence = await self.batcher.run(self.model.coherence_steps(sentences), score_cost(sentences))
        return answer({**coherence.to_json(), "sentences": sentences, "warnings": warnings})

    async def graph(self, asked: Sentences, request: Request) -> Response:
        """Show the entities, their roles, and the linked pairs."""
        sentences, warnings = await self._read(asked, request)
        cost = reading_cost(sentences)
        check_document_cost(cost, self.limits)
        graph = await self.batcher.run(_one_step(lambda: self.model.graph(sentences)), cost)
        return answer({**asdict(graph), "sentences": sentences, "warnings": warnings})

    async def split(self, asked: Sentences, request: Request) -> Response:
        """Cut a text into sentences."""
        sentences, _ = await self._read(asked, request)
        return answer({"sentences": sentences})

    async def exercise(self, asked: ExerciseRequest, request: Request) -> Response:
        """Make a scrambled-sentence exercise of a paragraph that stands in its right order."""
        sentences, warnings = await self._read(asked, request)
        cost = exercise_cost(sentences, mend=asked.mend)
        check_document_cost(order_cost(sentences), self.limits)
        advice = f"Send fewer or shorter sentences{', or set mend to false' if asked.mend else ''}."
        check_request_cost(cost, self.limits, advice)
        steps = exercise_steps(self.model, sentences, seed=asked.seed, margin=asked.margin, mend=asked.mend)
        made = await self.batcher.run(steps, cost)
        labels = [label(item) for item in range(len(made.items))]
        return answer({**made.to_json(), "labels": labels, "warnings": warnings})

    async def models(self) -> Response:
        """Name the model that answers, and the limits of a request."""
        return answer({"models": [{"name": self.model.name, **self.model.card()}], "limits": asdict(self.limits)})

    async def _read(self, asked: Sentences, request: Request, where: str = "") -> tuple[tuple[str, ...], list[str]]:
        """A document's sentences and the warnings about them, in a thread: other requests go on meanwhile."""

        def read() -> tuple[tuple[str, ...], list[str]]:
            sentences = read_sentences(asked.sentences, asked.text, asked.split, self.limits, where)
            return sentences, warnings_about(sentences)

        sentences, warnings = await asyncio.to_thread(read)
        facts = request.state.facts
        facts["documents"] = facts.get("documents", 0) + 1
        facts["sentences"] = facts.get("sentences", 0) + len(sentences)
        return sentences, warnings


def _ordering(ordering: Ordering, sentences: Sequence[str], warnings: Sequence[str]) -> dict[str, Any]:
    return {**ordering.to_json(), "sentences": sentences, "warnings": warnings}


def _one_step(call: Callable[[], Result]) -> Steps[Result]:
    yield from ()
    return call()
