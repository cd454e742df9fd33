"""Requests that come at the same time are read by the model together; long ones take turns with short ones."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from typing import Any, TypeVar

from unshuffle.machine import hand_back
from unshuffle.result import Ordering
from unshuffle.serve.contract import ServedModel
from unshuffle.serve.fairness import FairQueue
from unshuffle.serve.jobs import Busy, Job, TooSlow, Turn
from unshuffle.serve.metrics import Meters
from unshuffle.serve.settings import Batching
from unshuffle.serve.worker import ModelThread
from unshuffle.steps import Steps
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document

Result = TypeVar("Result")

COMEBACK = 0.06
"""Share of a call's time for which the next one waits for clients to come back."""
UNFINISHED = object()
"""In place of an answer: the job needs further turns."""
TIDY_EVERY = 5.0
"""Seconds after which memory that calls have left free is given back."""
GRACE = 2.0
"""Seconds for which the end of the service waits for a slice whose answer nobody wants any more."""


class Batcher:
    """One queue, one collector, one model thread."""

    def __init__(self, model: ServedModel, config: Batching, meters: Meters) -> None:
        self._model = model
        self._config = config
        self._meters = meters
        self._queue = FairQueue(config)
        self._running: tuple[Job, ...] = ()
        self._changed = asyncio.Event()
        self.stopping = False
        """Whether the service is about to end; what comes until `close` is still answered."""
        self._closing = False
        self._seconds_per_cost = 0.0005
        self._busy_until = 0.0
        self._busy_for = 0.0
        self._tidied = 0.0
        self._thread = ModelThread()
        self._collector: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to take jobs; needs a running event loop."""
        self._collector = asyncio.get_running_loop().create_task(self._collect())

    async def close(self) -> None:
        """Finish what somebody waits for, take nothing new, and abandon the rest."""
        self.stopping = self._closing = True
        self._changed.set()
        if self._collector is not None:
            awaited = self._queue or any(not job.future.done() for job in self._running)
            await asyncio.wait({self._collector}, timeout=(self._config.seconds if awaited else 0) + GRACE)
            self._collector.cancel()
        self._thread.stop()

    async def order(
        self, documents: Sequence[Document], costs: Sequence[float], options: OrderOptions
    ) -> list[Ordering]:
        """The best orders, found together with those of other requests."""
        what = {"documents": tuple(documents), "costs": tuple(costs), "options": options}
        orderings: list[Ordering] = await self._submit(sum(costs), **what)
        return orderings

    async def run(self, steps: Steps[Result], cost: float) -> Result:
        """Something else that needs the model, one step at a time."""
        result: Result = await self._submit(cost, steps=steps)
        return result

    async def _submit(self, cost: float, **what: Any) -> Any:
        if self._closing:
            raise Busy("the service is stopping. Try again.", 2)
        job = Job(asyncio.get_running_loop().create_future(), time.monotonic(), cost, **what)
        self._queue.add(job, self._retry_after())
        self._meters.waiting.set(self._queue.waiting)
        self._changed.set()
        try:
            # A future that is given up is cancelled, and its job is dropped before its next slice.
            return await asyncio.wait_for(job.future, self._config.seconds)
        except TimeoutError:
            raise TooSlow(f"no answer within {self._config.seconds:g} s. Send less at once or try later.") from None

    def _retry_after(self) -> int:
        return min(60, max(1, math.ceil(self._queue.cost * self._seconds_per_cost)))

    async def _collect(self) -> None:
        while True:
            while not self._queue:
                if self._closing:
                    return
                self._changed.clear()
                await self._changed.wait()
            await self._linger()
            if turn := self._queue.take():
                self._meters.waiting.set(self._queue.waiting)
                await self._do(turn)

    async def _do(self, turn: Turn) -> None:
        self._running = turn.jobs
        began = time.monotonic()
        await self._thread.run(lambda: self._work(turn))
        self._running = ()
        self._busy_until = time.monotonic()
        self._busy_for = self._busy_until - began
        self._queue.spent(turn, self._busy_for)
        for job in turn.jobs:
            if not job.future.done():
                self._queue.put_back(job)
        if self._busy_until - self._tidied > TIDY_EVERY:
            await self._thread.run(hand_back)
            self._tidied = self._busy_until

    async def _linger(self) -> None:
        """Wait until a batch is full or the window is over, which opens again when the model has just become free.

        Clients that were answered a moment ago ask again: without that they would wait through the next call, and
        batches would stay half empty.
        """
        comeback = self._busy_until + COMEBACK * self._busy_for
        while not self._closing:
            first = self._queue.first_short
            if first is None:
                # A long job may go on, but not in the very moment before a short one claims its share.
                if not self._queue.owes:
                    return
                end = comeback
            elif first.steps is not None or self._queue.waiting >= self._config.documents:
                return
            else:
                end = max(first.arrived + self._config.window, comeback)
            rest = end - time.monotonic()
            if rest <= 0:
                if first is None:
                    self._queue.forgive()
                return
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), rest)
            except TimeoutError:
                continue

    def _work(self, turn: Turn) -> None:
        """In the model thread: one call for all jobs; if it fails, one for each, so that only the culprit fails."""
        began = time.perf_counter()
        try:
            answers = self._answers(turn)
        except Exception as error:
            if len(turn.jobs) > 1:
                for job, documents in zip(turn.jobs, turn.documents, strict=True):
                    self._work(Turn((job,), (documents,), cost=0.0, long=turn.long))
                return
            answers = [error]
        if turn.cost:
            self._seconds_per_cost += 0.1 * ((time.perf_counter() - began) / turn.cost - self._seconds_per_cost)
        for job, answer in zip(turn.jobs, answers, strict=True):
            if answer is not UNFINISHED:
                job.future.get_loop().call_soon_threadsafe(_settle, job.future, answer)

    def _answers(self, turn: Turn) -> list[Any]:
        """The answer of each job, or that it needs further turns."""
        first = turn.jobs[0]
        if first.steps is not None:
            with self._meters.work("other", 1):
                return [_step(first.steps)]
        documents = [document for part in turn.documents for document in part]
        with self._meters.work("parse", len(documents)):
            parsed = list(self._model.parser.mentions(documents))
        with self._meters.work("order", len(documents)):
            found = self._model.order_many(parsed, first.options, batch_size=self._config.documents)
            orderings = iter(list(found))
        for job, part in zip(turn.jobs, turn.documents, strict=True):
            job.found.extend(next(orderings) for _ in part)
        return [job.found if len(job.found) == len(job.documents) else UNFINISHED for job in turn.jobs]


def _step(steps: Steps[Any]) -> Any:
    try:
        next(steps)
    except StopIteration as end:
        return end.value
    return UNFINISHED


def _settle(future: asyncio.Future[Any], answer: Any) -> None:
    if future.done():
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
