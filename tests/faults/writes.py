"""Every step by which a file comes into being, counted; one of them fails as on a full disk."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import safetensors.numpy


class Writes:
    """How many steps there were, and whether one failed."""

    def __init__(self, failing: int | None) -> None:
        self.failing = failing
        self.count = 0

    @property
    def failed(self) -> bool:
        """Whether the step that was to fail was reached."""
        return self.failing is not None and self.count >= self.failing

    def fails(self) -> bool:
        """Whether this step is the one."""
        self.count += 1
        return self.count == self.failing


@contextmanager
def counted_writes(failing: int | None = None, *, deadly: bool = False) -> Iterator[Writes]:
    """Counts the steps of all writing; the step of number `failing`, from 1, writes half of its data and fails.

    `deadly`: it does not fail, it kills the process.
    """
    writes = Writes(failing)

    def full() -> OSError:
        if deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def before(call: Callable[..., Any]) -> Callable[..., Any]:
        def inner(*given: Any, **options: Any) -> Any:
            if writes.fails():
                raise full()
            return call(*given, **options)

        return inner

    def half(call: Callable[..., Any], place: int) -> Callable[..., Any]:
        def inner(*given: Any, **options: Any) -> Any:
            found = call(*given, **options)
            if writes.fails():
                path = Path(given[place])
                os.truncate(path, path.stat().st_size // 2)
                raise full()
            return found

        return inner

    with ExitStack() as stack:
        for owner, name in ((Path, "touch"), (os, "fsync"), (Path, "replace"), (Path, "chmod"), (Path, "mkdir")):
            stack.enter_context(patch.object(owner, name, before(getattr(owner, name))))
        for owner, name, place in (
            (Path, "write_text", 0),
            (Path, "write_bytes", 0),
            (safetensors.numpy, "save_file", 1),
        ):
            stack.enter_context(patch.object(owner, name, half(getattr(owner, name), place)))
        yield writes
