"""What becomes of memory that is no longer used."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

Result = TypeVar("Result")

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # options of glibc's mallopt
KEPT = 1 << 30
USUAL = 1 << 25
"""What the C library comes to by itself once blocks of this size have been freed."""


def keep_memory(kept: int = KEPT) -> bool:
    """Asks the C library not to hand large blocks back to the system; False where it cannot be asked.

    Otherwise every large tensor of every step is mapped again, page by page: about a tenth of a training step.
    """
    library = _library()
    if library is None or not hasattr(library, "mallopt"):
        return False
    sizes = ((MMAP_THRESHOLD, kept), (TRIM_THRESHOLD, 2 * kept - 1))
    return all(library.mallopt(option, size) == 1 for option, size in sizes)


def hand_back() -> bool:
    """Gives what is free but scattered back to the system; False where that cannot be asked.

    A service needs blocks of ever new sizes, and what lies between them adds up over its first minutes.
    """
    library = _library()
    if library is None or not hasattr(library, "malloc_trim"):
        return False
    library.malloc_trim(0)
    return True


def settled(results: Iterable[Result], after: int = 256) -> Iterator[Result]:
    """Passes results on; after so many, all that is loaded is taken to last, and garbage is sought in the rest only.

    Otherwise a parser's garbage lies about for thousands of documents. For programs, not for the libraries they use:
    what is loaded is everything in the process.
    """
    for number, result in enumerate(results, start=1):
        yield result
        if number == after:
            gc.collect()
            gc.freeze()


def _library() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None)
    except OSError:
        return None
