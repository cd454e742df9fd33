"""Requests that come at the same time are read by the model together."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from unshuffle.machine.memory import hand_back
from unshuffle.result import Ordering
from unshuffle.serve.contract import Model
from unshuffle.serve.jobs import Busy, Job, TooSlow
from unshuffle.serve.metrics import Meters
from unshuffle.serve.settings import Batching
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document

Result = TypeVar("Result")

COMEBACK = 0.06
"""Share of a call's time for which the next one waits for clients to come back."""

TIDY_EVERY = 5.0
"""Seconds after which memory that calls have left free is given back."""


class Batcher:
    """One queue, one collector, one model thread."""

    def __init__(self, model: Model, config: Batching, meters: Meters) -> None:
        self._model = model
        self._config = config
        self._meters = meters
        self._queue: deque[Job] = deque()
        self._changed = asyncio.Event()
        self.closing = False
        self._seconds_a_document = 0.01
        self._busy_until = 0.0
        self._busy_for = 0.0
        self._tidied = 0.0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
        self._collector: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to take jobs; needs a running event loop."""
        self._collector = asyncio.get_running_loop().create_task(self._collect())

    async def close(self) -> None:
        """Finish what was accepted, take nothing new."""
        self.closing = True
        self._changed.set()
        if self._collector is not None:
            await self._collector
        self._thread.shutdown()

    @property
    def waiting(self) -> int:
        """Documents that no model call has taken yet."""
        return sum(job.size for job in self._queue)

    async def order(self, documents: Sequence[Document], options: OrderOptions) -> list[Ordering]:
        """The best orders, found together with those of other requests."""
        orderings: list[Ordering] = await self._submit(documents=tuple(documents), options=options)
        return orderings

    async def call(self, work: Callable[[], Result]) -> Result:
        """Something else that needs the model."""
        result: Result = await self._submit(call=work)
        return result

    async def _submit(self, **what: Any) -> Any:
        job = Job(future=asyncio.get_running_loop().create_future(), arrived=time.monotonic(), **what)
        if self.closing:
            raise Busy("the service is stopping. Try again.", 2)
        if (waiting := self.waiting) + job.size > self._config.waiting:
            raise Busy("too much is waiting. Try again.", self._retry_after(waiting))
        self._queue.append(job)
        self._meters.waiting.set(waiting + job.size)
        self._changed.set()
        try:
            # A future that is given up is cancelled, and the collector passes over it.
            return await asyncio.wait_for(job.future, self._config.seconds)
        except TimeoutError:
            raise TooSlow(f"no answer within {self._config.seconds:g} s. Send less at once or try later.") from None

    def _retry_after(self, waiting: int) -> int:
        return min(60, max(1, math.ceil(waiting * self._seconds_a_document)))

    async def _collect(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            while not self._queue:
                if self.closing:
                    return
                self._changed.clear()
                await self._changed.wait()
            await self._linger(self._queue[0])
            if jobs := self._take():
                began = time.monotonic()
                await loop.run_in_executor(self._thread, self._work, jobs, loop)
                self._busy_until = time.monotonic()
                self._busy_for = self._busy_until - began
                if self._busy_until - self._tidied > TIDY_EVERY:
                    await loop.run_in_executor(self._thread, hand_back)
                    self._tidied = self._busy_until

    async def _linger(self, first: Job) -> None:
        """Wait until a batch is full or the window is over, which opens anew when the model has just become free.

        Clients that were answered a moment ago ask again: without that they would wait through the next call, and
        batches would stay half empty.
        """
        if first.call is not None:
            return
        end = max(first.arrived + self._config.window, self._busy_until + COMEBACK * self._busy_for)
        while not self.closing and self.waiting < self._config.documents:
            rest = end - time.monotonic()
            if rest <= 0:
                return
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), rest)
            except TimeoutError:
                return

    def _take(self) -> list[Job]:
        """The first job and, up to a full batch, those that can be answered with it; the others keep their places."""
        taken: list[Job] = []
        left: deque[Job] = deque()
        size = 0
        for job in self._queue:
            if job.future.done():
                continue
            fits = not taken or (job.options == taken[0].options and job.call is None and taken[0].call is None)
            if fits and (not taken or size + job.size <= self._config.documents):
                taken.append(job)
                size += job.size
            else:
                left.append(job)
        self._queue = left
        self._meters.waiting.set(self.waiting)
        return taken

    def _work(self, jobs: list[Job], loop: asyncio.AbstractEventLoop) -> None:
        """In the model thread: one call for all jobs; if it fails, one for each, so that only the culprit fails."""
        began = time.perf_counter()
        try:
            answers = self._answers(jobs)
        except Exception as error:
            if len(jobs) > 1:
                for job in jobs:
                    self._work([job], loop)
                return
            answers = [error]
        a_document = (time.perf_counter() - began) / sum(job.size for job in jobs)
        self._seconds_a_document += 0.1 * (a_document - self._seconds_a_document)
        for job, answer in zip(jobs, answers, strict=True):
            loop.call_soon_threadsafe(_settle, job.future, answer)

    def _answers(self, jobs: list[Job]) -> list[Any]:
        if (call := jobs[0].call) is not None:
            with self._meters.work("other", 1):
                return [call()]
        documents = [document for job in jobs for document in job.documents]
        with self._meters.work("parse", len(documents)):
            parsed = list(self._model.parser.mentions(documents))
        with self._meters.work("order", len(documents)):
            found = self._model.order_many(parsed, jobs[0].options, batch_size=self._config.documents)
            orderings = iter(list(found))
        return [[next(orderings) for _ in job.documents] for job in jobs]


def _settle(future: asyncio.Future[Any], answer: Any) -> None:
    if future.done():
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)
