"""The addresses of the service: each reads a request, asks the model, and answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from starlette.responses import Response

from unshuffle.errors import ConfigError, DataError
from unshuffle.exercises.exercise import Exercise, ExerciseOptions, label
from unshuffle.exercises.formats.write import Format, writable, written
from unshuffle.exercises.make import exercise_steps
from unshuffle.exercises.sheet import Booklet
from unshuffle.serve.answers import answer
from unshuffle.serve.batching import Batcher
from unshuffle.serve.body import StrictRoute
from unshuffle.serve.contract import ServedModel
from unshuffle.serve.cost import (
    check_document_cost,
    check_request_cost,
    exercise_cost,
    file_cost,
    order_cost,
    reading_cost,
    score_cost,
)
from unshuffle.serve.limits import Text, read_constraints, read_text
from unshuffle.serve.requests import BatchRequest, ExerciseFileRequest, ExerciseRequest, OrderRequest, Sentences
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
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document

Result = TypeVar("Result")

FILE = "/exercise/file"
FILES: dict[Format, str] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
"""What exercises can be written to, and what kind of answer that is."""
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

    def __init__(
        self, model: ServedModel, batcher: Batcher, settings: Settings, others: Sequence[ServedModel] = ()
    ) -> None:
        self.model = model
        self.others = {other.name: other for other in others}
        if len({model.name, *self.others}) <= len(others):
            raise ConfigError(
                f"--compare: two models are called '{model.name}'. Change the name in the config.json of one."
            )
        self.batcher = batcher
        self.limits = settings.limits
        self.formats = writable(FILES)
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
        files: dict[int | str, Any] = {200: {"content": {kind: {} for kind in FILES.values()}}}
        self.router.add_api_route(FILE, self.exercise_file, methods=["POST"], response_class=Response, responses=files)
        self.posted = frozenset(f"/v1{path}" for path in (*posts, FILE))
        self.router.add_api_route("/models", self.models, methods=["GET"], response_model=ModelsAnswer)

    async def order(self, asked: OrderRequest, request: Request) -> Response:
        """Find the order in which sentences read best."""
        (text,) = await self._read([asked], request)
        (pieces,) = await self._pieces([text])
        options = OrderOptions(
            beam=asked.beam,
            n_best=asked.n_best,
            keep_if_unsure=asked.keep_if_unsure,
            constraints=read_constraints(asked, len(text.sentences)),
        )
        cost = order_cost(pieces, options.width)
        check_document_cost(cost, self.limits)
        document = Document(text.sentences, id=asked.id)
        if (other := self._other(asked.model)) is None:
            (ordering,) = await self.batcher.order([document], [cost], options)
        else:
            ordering = await self.batcher.run(_one_step(lambda: next(other.order_many([document], options))), cost)
        return await asyncio.to_thread(lambda: answer(ordering.to_json()))

    async def order_batch(self, asked: BatchRequest, request: Request) -> Response:
        """Order several documents."""
        if not asked.documents:
            raise DataError("documents: there is none. Give at least one.")
        if len(asked.documents) > self.limits.documents:
            raise DataError(f"documents: {len(asked.documents)} are too many. Give at most {self.limits.documents}.")
        texts = await self._read(asked.documents, request, "documents[{}].")
        options = OrderOptions(beam=asked.beam, n_best=asked.n_best, keep_if_unsure=asked.keep_if_unsure)
        costs = [order_cost(pieces, options.width) for pieces in await self._pieces(texts)]
        for index, cost in enumerate(costs):
            check_document_cost(cost, self.limits, f"documents[{index}].")
        check_request_cost(sum(costs), self.limits, "Send fewer documents at once, or a smaller beam.")
        documents = [Document(text.sentences, id=one.id) for text, one in zip(texts, asked.documents, strict=True)]
        orderings = await self.batcher.order(documents, costs, options)
        # An answer can have megabytes: it is written, too, where nobody else has to wait for it.
        return await asyncio.to_thread(lambda: answer({"orderings": [one.to_json() for one in orderings]}))

    async def score(self, asked: Sentences, request: Request) -> Response:
        """Say how coherent sentences are as they stand, and which move would help most."""
        (text,) = await self._read([asked], request)
        (pieces,) = await self._pieces([text])
        check_document_cost(reading_cost(pieces), self.limits)
        coherence = await self.batcher.run(self.model.coherence_steps(text.sentences), score_cost(pieces))
        return answer({**coherence.to_json(), **asdict(text)})

    async def graph(self, asked: Sentences, request: Request) -> Response:
        """Show the entities, their roles, and the linked pairs."""
        (text,) = await self._read([asked], request)
        (pieces,) = await self._pieces([text])
        cost = reading_cost(pieces)
        check_document_cost(cost, self.limits)
        graph = await self.batcher.run(_one_step(lambda: self.model.graph(text.sentences)), cost)
        return answer({**asdict(graph), **asdict(text)})

    async def split(self, asked: Sentences, request: Request) -> Response:
        """Cut a text into sentences."""
        (text,) = await self._read([asked], request)
        return answer({"sentences": text.sentences})

    async def exercise(self, asked: ExerciseRequest, request: Request) -> Response:
        """Make a scrambled-sentence exercise of a paragraph that stands in its right order."""
        made, text = await self._exercise(asked, request)
        labels = [label(item) for item in range(len(made.items))]
        return answer({**made.to_json(), "labels": labels, "warnings": text.warnings})

    async def exercise_file(self, asked: ExerciseFileRequest, request: Request) -> Response:
        """Make the same exercise as a file to print or to edit."""
        if asked.format not in self.formats:
            raise DataError(f"format: this service cannot write {asked.format}. Choose one that GET /v1/models lists.")
        made, text = await self._exercise(asked, request)
        # Long sentences take a second to set, so writing waits its turn like everything else.
        writing = _one_step(lambda: written(Booklet((made,), asked.title), asked.format))
        content = await self.batcher.run(writing, file_cost(text.sentences))
        name = f'attachment; filename="exercise.{asked.format}"'
        return Response(content, headers={"content-disposition": name}, media_type=FILES[asked.format])

    async def _exercise(self, asked: ExerciseRequest, request: Request) -> tuple[Exercise, Text]:
        (text,) = await self._read([asked], request)
        (pieces,) = await self._pieces([text])
        cost = exercise_cost(pieces, mend=asked.mend)
        check_document_cost(order_cost(pieces), self.limits)
        advice = f"Send fewer or shorter sentences{', or set mend to false' if asked.mend else ''}."
        check_request_cost(cost, self.limits, advice)
        options = ExerciseOptions(seed=asked.seed, margin=asked.margin, mend=asked.mend)
        steps = exercise_steps(self.model, text.sentences, options)
        (made,) = await self.batcher.run(steps, cost)
        return made, text

    async def models(self) -> Response:
        """Name the models, first the one that answers where a request names none, the limits, and kinds of files."""
        models = [{"name": one.name, **one.card()} for one in (self.model, *self.others.values())]
        return answer({"models": models, "limits": asdict(self.limits), "exercise_formats": self.formats})

    def _other(self, name: str | None) -> ServedModel | None:
        """The further model that a request names; None for the usual one. None but those loaded can be had."""
        if name is None or name == self.model.name:
            return None
        if name not in self.others:
            known = ", ".join((self.model.name, *self.others))
            raise DataError(f"model: there is none of that name here. Give one of: {known}.")
        return self.others[name]

    async def _read(self, asked: Sequence[Sentences], request: Request, where: str = "") -> list[Text]:
        """The documents of a request, read in a thread: other requests go on meanwhile."""
        texts = await asyncio.to_thread(
            lambda: [read_text(one, self.limits, where.format(index)) for index, one in enumerate(asked)]
        )
        request.state.facts.update(documents=len(texts), sentences=sum(len(text.sentences) for text in texts))
        return texts

    async def _pieces(self, texts: Sequence[Text]) -> list[list[int]]:
        """How many word pieces the model would read of each sentence of each document, counted in a thread, too."""
        return await asyncio.to_thread(lambda: [self.model.pieces(text.sentences) for text in texts])


def _one_step(call: Callable[[], Result]) -> Steps[Result]:
    yield from ()
    return call()
