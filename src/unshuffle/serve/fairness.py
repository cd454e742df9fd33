"""Who is next: short jobs share calls, long ones are cut into slices, and neither kind can keep the other waiting."""

from __future__ import annotations

from collections import deque

from unshuffle.serve.jobs import Busy, Job, Turn
from unshuffle.serve.settings import Batching
from unshuffle.text.document import Document

TOGETHER = 4
"""Slices that short jobs may fill in one call."""
DELAY = 0.001
"""Seconds by which a short job stands back for each word read that it costs: a cheaper one goes first, but not for
ever."""


class FairQueue:
    """Jobs that wait.

    A job that costs more than one slice is long. While short ones wait, long ones get at most half of the model's time,
    however many there are; among themselves they take turns.
    """

    def __init__(self, config: Batching) -> None:
        self._config = config
        self._short: list[Job] = []
        self._long: deque[Job] = deque()
        self._owed = 0.0

    def __bool__(self) -> bool:
        self._forget()
        return bool(self._short or self._long)

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
    def owes(self) -> bool:
        """Whether long jobs have had more of the model than the short ones since."""
        return self._owed > 0

    def forgive(self) -> None:
        """No short job has come to claim its share."""
        self._owed = 0.0

    def add(self, job: Job, retry_after: int) -> None:
        """Take a job, or raise `Busy` if too much waits already."""
        self._forget()
        if not self._is_long(job):
            if self.waiting + job.size > self._config.waiting:
                raise Busy("too much is waiting. Try again.", retry_after)
            self._short.append(job)
        else:
            if len(self._long) >= self._config.long:
                raise Busy("too many long requests are waiting. Try again, or send less at once.", retry_after)
            self._long.append(job)

    def put_back(self, job: Job) -> None:
        """A job of which a slice was done and more is left: it stands behind the others of its kind."""
        (self._long if self._is_long(job) else self._short).append(job)

    def take(self) -> Turn | None:
        """What to do next; None if nobody waits."""
        self._forget()
        if self._long and (not self._short or self._owed <= 0):
            return self._slice(self._long.popleft())
        return self._shared() if self._short else None

    def spent(self, turn: Turn, seconds: float) -> None:
        """How long it took."""
        self._owed = seconds if turn.long else max(0.0, self._owed - seconds)

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
        return Turn((job,), (tuple(part),), cost, long=True)

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
        return Turn(tuple(taken), tuple(job.documents for job in taken), cost, long=False)

    def _forget(self) -> None:
        """Drop the jobs for which nobody waits any more."""
        self._short = [job for job in self._short if not job.future.done()]
        if any(job.future.done() for job in self._long):
            self._long = deque(job for job in self._long if not job.future.done())


def _rank(job: Job) -> float:
    return job.arrived + DELAY * job.cost
