"""What a request wants of the model, and what becomes of it if it cannot be had."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document


class Busy(Exception):
    """More waits than allowed, or the service is stopping."""

    def __init__(self, reason: str, retry_after: int) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class TooSlow(Exception):
    """A request was not answered in time."""


@dataclass(slots=True, eq=False)
class Job:
    """What one request wants of the model."""

    future: asyncio.Future[Any]
    arrived: float
    documents: tuple[Document, ...] = ()
    options: OrderOptions | None = None
    call: Callable[[], Any] | None = None
    """Work that cannot be shared; runs by itself."""

    @property
    def size(self) -> int:
        """How much room it takes in the queue."""
        return max(1, len(self.documents))
