"""Who is next: short jobs share calls, long ones are cut into slices, and neither kind can keep the other waiting."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Literal

from unshuffle.result import Ordering
from unshuffle.serve.settings import Batching
from unshuffle.steps import Steps
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document

Lane = Literal["short", "long"]


class Busy(Exception):
    """More waits than allowed, or the service is stopping."""

    def __init__(self, reason: str, retry_after: int) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class TooSlow(Exception):
    """A request was not answered in time."""


@dataclass(slots=True, eq=False)
class Job:
    """What one request wants of the model: documents put in order, or other work in steps."""

    future: asyncio.Future[Any]
    """Where the answer goes; done as soon as nobody waits for it any more."""
    arrived: float
    cost: float
    documents: tuple[Document, ...] = ()
    costs: tuple[float, ...] = ()
    """Of each document."""
    options: OrderOptions | None = None
    steps: Steps[Any] | None = None
    found: list[Ordering] = field(default_factory=list)
    """The answers so far, for the first documents."""

    @property
    def size(self) -> int:
        """How much room it takes in the queue."""
        return max(1, len(self.documents))


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model does next: one step of one job, or some documents of one or more jobs in one call."""

    jobs: tuple[Job, ...]
    documents: tuple[tuple[Document, ...], ...]
    """Of each job."""
    cost: float
    """Of the documents; 0 for a step, of which it is not known."""


TOGETHER = 4
"""Slices that short jobs may fill in one call."""
DELAY = 0.001
"""Seconds by which a short job stands back for each word piece that it costs: a cheaper one goes first, but not for
ever."""


class FairQueue:
    """Jobs that wait, in two lanes.

    A job that costs more than one slice is long. Each lane has a thread of its own, so that long jobs get at most half
    of a core that short ones want, however many and however large they are; among themselves they take turns.
    """

    def __init__(self, config: Batching) -> None:
        self._config = config
        self._short: list[Job] = []
        self._long: deque[Job] = deque()
        self._sliced: Job | None = None
        """The long job of which a slice is being done."""

    def waits(self, lane: Lane) -> bool:
        """Whether anything waits in a lane."""
        self._forget()
        return bool(self._long if lane == "long" else self._short)

    @property
    def waiting(self) -> int:
        """Documents of short jobs, for which somebody waits."""
        self._forget()
        return sum(job.size for job in self._short)

    @property
    def cost(self) -> float:
        """What everything that waits will cost."""
        self._forget()
        return sum(job.cost for job in (*self._short, *self._long))

    @property
    def first_short(self) -> Job | None:
        """The short job that is next, if any waits."""
        self._forget()
        return min(self._short, key=_rank, default=None)

    @property
    def unanswered(self) -> list[Job]:
        """All jobs for which somebody waits."""
        self._forget()
        return [*self._short, *self._long]

    def add(self, job: Job, retry_after: int) -> None:
        """Take a job, or raise `Busy` if too much waits or is under way already."""
        self._forget()
        if not self._is_long(job):
            if self.waiting + job.size > self._config.waiting:
                raise Busy("too much is waiting. Try again.", retry_after)
            self._short.append(job)
        else:
            running = self._sliced is not None and not self._sliced.future.done()
            if len(self._long) + running >= self._config.long:
                raise Busy("too many long requests are under way. Try again, or send less at once.", retry_after)
            self._long.append(job)

    def put_back(self, job: Job) -> None:
        """A job of which a slice was done and more is left: it stands behind the others of its kind."""
        if job is self._sliced:
            self._sliced = None
        (self._long if self._is_long(job) else self._short).append(job)

    def take(self, lane: Lane) -> Turn | None:
        """What a lane does next; None if nobody waits."""
        self._forget()
        if lane == "long":
            self._sliced = self._long.popleft() if self._long else None
            return self._slice(self._sliced) if self._sliced else None
        return self._shared() if self._short else None

    def _is_long(self, job: Job) -> bool:
        return job.cost > self._config.slice

    def _slice(self, job: Job) -> Turn:
        """The next documents of a long job, at least one."""
        done = len(job.found)
        part: list[Document] = []
        cost = 0.0
        for document, own in zip(job.documents[done:], job.costs[done:], strict=True):
            if part and (cost + own > self._config.slice or len(part) == self._config.documents):
                break
            part.append(document)
            cost += own
        return Turn((job,), (tuple(part),), cost)

    def _shared(self) -> Turn:
        """The first short job and those that can be answered in one call with it."""
        ranked = sorted(self._short, key=_rank)
        taken = [ranked[0]]
        size, cost = ranked[0].size, 0.0
        if ranked[0].steps is None:
            cost = ranked[0].cost
            for job in ranked[1:]:
                fits = size + job.size <= self._config.documents and cost + job.cost <= TOGETHER * self._config.slice
                if fits and job.steps is None and job.options == ranked[0].options:
                    taken.append(job)
                    size += job.size
                    cost += job.cost
        self._short = [job for job in self._short if job not in taken]
        return Turn(tuple(taken), tuple(job.documents for job in taken), cost)

    def _forget(self) -> None:
        """Drop the jobs for which nobody waits any more."""
        self._short = [job for job in self._short if not job.future.done()]
        if any(job.future.done() for job in self._long):
            self._long = deque(job for job in self._long if not job.future.done())


def _rank(job: Job) -> float:
    return job.arrived + DELAY * job.cost
