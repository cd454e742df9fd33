"""The addresses of the service: each reads a request, asks the model, and answers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from unshuffle.errors import DataError
from unshuffle.exercises.exercise import label
from unshuffle.exercises.make import make_exercise
from unshuffle.result import Ordering
from unshuffle.serve.answers import answer
from unshuffle.serve.batching import Batcher
from unshuffle.serve.body import StrictRoute
from unshuffle.serve.contract import Model
from unshuffle.serve.limits import read_constraints, read_sentences
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
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": description}
    for status, description in {
        401: "The token is missing or wrong.",
        408: "The body came too slowly.",
        413: "The body is too large.",
        415: "The body is not sent as JSON.",
        421: "The service is not known by the name in the Host header.",
        422: "The request cannot be read, or asks for more than allowed.",
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
        for path, handler, shape in (
            ("/order", self.order, OrderAnswer),
            ("/order/batch", self.order_batch, BatchAnswer),
            ("/score", self.score, ScoreAnswer),
            ("/graph", self.graph, GraphAnswer),
            ("/split", self.split, SplitAnswer),
            ("/exercise", self.exercise, ExerciseAnswer),
        ):
            self.router.add_api_route(path, handler, methods=["POST"], response_model=shape)
        self.router.add_api_route("/models", self.models, methods=["GET"], response_model=ModelsAnswer)

    async def order(self, asked: OrderRequest, request: Request) -> Response:
        """Find the order in which sentences read best."""
        sentences = self._sentences(asked, request)
        options = OrderOptions(
            beam=asked.beam,
            n_best=asked.n_best,
            keep_if_unsure=asked.keep_if_unsure,
            constraints=read_constraints(asked, len(sentences)),
        )
        (ordering,) = await self.batcher.order([Document(sentences, id=asked.id)], options)
        return answer(_ordering(ordering, sentences))

    async def order_batch(self, asked: BatchRequest, request: Request) -> Response:
        """Order several documents."""
        if not asked.documents:
            raise DataError("documents: there is none. Give at least one.")
        if len(asked.documents) > self.limits.documents:
            raise DataError(f"documents: {len(asked.documents)} are too many. Give at most {self.limits.documents}.")
        texts = [
            read_sentences(one.sentences, one.text, one.split, self.limits, f"documents[{place}].")
            for place, one in enumerate(asked.documents)
        ]
        request.state.facts.update(documents=len(texts), sentences=sum(map(len, texts)))
        documents = [Document(text, id=one.id) for text, one in zip(texts, asked.documents, strict=True)]
        options = OrderOptions(beam=asked.beam, n_best=asked.n_best, keep_if_unsure=asked.keep_if_unsure)
        orderings = await self.batcher.order(documents, options)
        found = [_ordering(ordering, text) for ordering, text in zip(orderings, texts, strict=True)]
        return answer({"orderings": found})

    async def score(self, asked: Sentences, request: Request) -> Response:
        """Say how coherent sentences are as they stand, and which move would help most."""
        sentences = self._sentences(asked, request)
        coherence = await self.batcher.call(lambda: self.model.coherence(sentences))
        return answer({**coherence.to_json(), "sentences": sentences})

    async def graph(self, asked: Sentences, request: Request) -> Response:
        """Show the entities, their roles, and the linked pairs."""
        sentences = self._sentences(asked, request)
        graph = await self.batcher.call(lambda: self.model.graph(sentences))
        return answer({**asdict(graph), "sentences": sentences})

    async def split(self, asked: Sentences, request: Request) -> Response:
        """Cut a text into sentences."""
        return answer({"sentences": self._sentences(asked, request)})

    async def exercise(self, asked: ExerciseRequest, request: Request) -> Response:
        """Make a scrambled-sentence exercise of a paragraph that stands in its right order."""
        sentences = self._sentences(asked, request)
        made = await self.batcher.call(
            lambda: make_exercise(self.model, sentences, seed=asked.seed, margin=asked.margin, mend=asked.mend)
        )
        return answer({**made.to_json(), "labels": [label(item) for item in range(len(made.items))]})

    async def models(self) -> Response:
        """Name the model that answers, and the limits of a request."""
        return answer({"models": [{"name": self.model.name, **self.model.card()}], "limits": asdict(self.limits)})

    def _sentences(self, asked: Sentences, request: Request) -> tuple[str, ...]:
        sentences = read_sentences(asked.sentences, asked.text, asked.split, self.limits)
        request.state.facts.update(documents=1, sentences=len(sentences))
        return sentences


def _ordering(ordering: Ordering, sentences: tuple[str, ...]) -> dict[str, Any]:
    return {**ordering.to_json(), "sentences": sentences}
