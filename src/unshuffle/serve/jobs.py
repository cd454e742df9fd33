"""What a request wants of the model, and what becomes of it if it cannot be had."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Literal

from unshuffle.result import Ordering
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
