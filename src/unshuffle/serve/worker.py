"""A thread in which the model runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any


def ordinary(error: BaseException) -> Exception:
    """The error itself, or one in its place that a future and an event loop treat like any other.

    A panic in a library written in Rust is no `Exception`, and would end the thread or the task that it reaches.
    """
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    failure = RuntimeError(f"the model failed with {type(error).__name__}")
    failure.__cause__ = error
    return failure


class ModelThread:
    """Does one thing after the other; as a daemon it cannot keep the process from ending."""

    def __init__(self, name: str) -> None:
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it still takes work."""
        return self._thread.is_alive()

    async def run(self, call: Callable[[], Any]) -> Any:
        """What a call returns or raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def task() -> None:
            try:
                settle = _settler(future, future.set_result, call())
            except BaseException as error:
                settle = _settler(future, future.set_exception, ordinary(error))
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle)

        self._tasks.put(task)
        return await future

    def stop(self) -> None:
        """End after what is being done."""
        self._tasks.put(None)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()


def _settler(future: asyncio.Future[Any], settle: Callable[[Any], None], value: Any) -> Callable[[], None]:
    return lambda: None if future.done() else settle(value)
