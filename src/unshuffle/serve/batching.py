"""Requests that come at the same time are read by the model together; long ones have a lane of their own."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from typing import Any, TypeVar

from unshuffle.machine import hand_back
from unshuffle.result import Ordering
from unshuffle.serve.contract import ServedModel
from unshuffle.serve.fairness import Busy, FairQueue, Job, Lane, TooSlow, Turn
from unshuffle.serve.metrics import Meters
from unshuffle.serve.settings import Batching
from unshuffle.serve.worker import ModelThread, ordinary
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
LANES: tuple[Lane, ...] = ("short", "long")
GRACE = 2.0
"""Seconds for which the end of the service waits for a slice whose answer nobody wants any more."""


class Batcher:
    """One queue; a collector and a model thread for short requests, and another pair for long ones."""

    def __init__(self, model: ServedModel, config: Batching, meters: Meters) -> None:
        self._model = model
        self._config = config
        self._meters = meters
        self._queue = FairQueue(config)
        self._running: set[Job] = set()
        self._changed = {lane: asyncio.Event() for lane in LANES}
        self.stopping = False
        """Whether the service is about to end; what comes until `close` is still answered."""
        self._closing = False
        self._seconds_per_cost = 0.0005
        self._busy_until = 0.0
        self._busy_for = 0.0
        self._tidied = 0.0
        self._threads = {lane: ModelThread(f"model, {lane}") for lane in LANES}
        self._collectors: set[asyncio.Task[None]] = set()

    @property
    def alive(self) -> bool:
        """Whether all that does the work is still there."""
        threads = all(thread.alive for thread in self._threads.values())
        return threads and not any(collector.done() for collector in self._collectors)

    def start(self) -> None:
        """Begin to take jobs; needs a running event loop."""
        loop = asyncio.get_running_loop()
        self._collectors = {loop.create_task(self._collect(lane)) for lane in LANES}

    def stop(self) -> None:
        """The service is about to end: what is not answered within the time for that is refused."""
        self.stopping = True
        asyncio.get_running_loop().call_later(self._config.last_seconds, self._refuse_all)

    async def close(self) -> None:
        """Finish what somebody waits for, take nothing new, and abandon the rest."""
        self.stopping = self._closing = True
        for changed in self._changed.values():
            changed.set()
        if self._collectors:
            awaited = self._queue.unanswered or any(not job.future.done() for job in self._running)
            await asyncio.wait(self._collectors, timeout=(self._config.last_seconds if awaited else 0) + GRACE)
            for collector in self._collectors:
                collector.cancel()
        self._refuse_all()
        for thread in self._threads.values():
            thread.stop()

    def _refuse_all(self) -> None:
        for job in (*self._queue.unanswered, *self._running):
            _settle(job.future, Busy("the service is stopping. Try again.", 2))

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
        for changed in self._changed.values():
            changed.set()
        try:
            # A future that is given up is cancelled, and its job is dropped before its next slice.
            return await asyncio.wait_for(job.future, self._config.seconds)
        except TimeoutError:
            raise TooSlow(f"no answer within {self._config.seconds:g} s. Send less at once or try later.") from None

    def _retry_after(self) -> int:
        return min(60, max(1, math.ceil(self._queue.cost * self._seconds_per_cost)))

    async def _collect(self, lane: Lane) -> None:
        changed = self._changed[lane]
        while True:
            while not self._queue.waits(lane):
                if self._closing:
                    return
                changed.clear()
                await changed.wait()
            if lane == "short":
                await self._linger()
            if turn := self._queue.take(lane):
                self._meters.waiting.set(self._queue.waiting)
                await self._do(turn, lane)

    async def _do(self, turn: Turn, lane: Lane) -> None:
        thread = self._threads[lane]
        self._running.update(turn.jobs)
        began = time.monotonic()
        await thread.run(lambda: self._work(turn))
        now = time.monotonic()
        self._running.difference_update(turn.jobs)
        if lane == "short":
            self._busy_until, self._busy_for = now, now - began
        for job in turn.jobs:
            if not job.future.done():
                self._queue.put_back(job)
        if now - self._tidied > TIDY_EVERY:
            self._tidied = now
            await thread.run(hand_back)

    async def _linger(self) -> None:
        """Wait until a batch is full or the window is over, which opens again when the model has just become free.

        Clients that were answered a moment ago ask again: without that they would wait through the next call, and
        batches would stay half empty.
        """
        comeback = self._busy_until + COMEBACK * self._busy_for
        changed = self._changed["short"]
        while not self._closing:
            first = self._queue.first_short
            if first is None or first.steps is not None or self._queue.waiting >= self._config.documents:
                return
            rest = max(first.arrived + self._config.window, comeback) - time.monotonic()
            if rest <= 0:
                return
            changed.clear()
            try:
                await asyncio.wait_for(changed.wait(), rest)
            except TimeoutError:
                continue

    def _work(self, turn: Turn) -> None:
        """In the model thread: one call for all jobs; if it fails, one for each, so that only the culprit fails."""
        began = time.perf_counter()
        try:
            answers = self._answers(turn)
        except BaseException as error:
            if len(turn.jobs) > 1:
                for job, documents in zip(turn.jobs, turn.documents, strict=True):
                    self._work(Turn((job,), (documents,), cost=0.0))
                return
            answers = [ordinary(error)]
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
