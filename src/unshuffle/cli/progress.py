"""What moves on stderr while a command works; nothing where stderr is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import Any, TypeVar

Result = TypeVar("Result")


def is_watched() -> bool:
    """Whether somebody sees stderr."""
    return sys.stderr is not None and sys.stderr.isatty()


def spinner(what: str) -> AbstractContextManager[Any]:
    """Turns beside a few words, such as "Loading the model"; what it yields can be given others, or is None."""
    if not is_watched():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(f"{what} …")


def counted(
    results: Iterable[Result],
    what: str,
    total: Callable[[], int | None] = lambda: None,
    *,
    answers_shown: bool = False,
) -> Iterator[Result]:
    """Passes results on with documents per second and the time left; `total` may change as more is known.

    `answers_shown`: results are printed on the same terminal, so that a bar would tear them; then only the wait for
    the first is shown.
    """
    if not is_watched():
        yield from results
        return
    stream = iter(results)
    with spinner(what):
        first = next(stream, None)
    if first is None:
        return
    with _bar(what, disable=answers_shown) as update:
        yield first
        update(total())
        for result in stream:
            yield result
            update(total())


class Pace:
    """Documents per second and the time left, beside a spinner, for work that is done in parts of about one size."""

    def __init__(self, status: Any) -> None:
        self._status = status
        self._started = time.monotonic()
        self._parts = self._done = self._documents = 0

    def plan(self, parts: int) -> None:
        """So many parts are to be done."""
        self._parts = parts
        self._started = time.monotonic()

    def add(self, documents: int) -> None:
        """One more part is done."""
        self._done += 1
        self._documents += documents
        seconds = time.monotonic() - self._started
        left = timedelta(seconds=round(seconds / self._done * (self._parts - self._done)))
        if self._status is not None:
            rate = self._documents / max(seconds, 1e-6)
            self._status.update(f"Ordering … {self._documents:,} documents, {rate:,.0f} per second, {left} left")


@contextmanager
def _bar(what: str, *, disable: bool) -> Iterator[Callable[[int | None], None]]:
    from tqdm import tqdm

    with tqdm(desc=what, unit=" documents", disable=disable, leave=False, dynamic_ncols=True) as bar:

        def update(total: int | None) -> None:
            if total is not None:
                bar.total = max(total, bar.n + 1)
            bar.update()

        yield update
