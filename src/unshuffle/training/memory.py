"""Memory that is freed and asked for again at every step stays with the process."""

from __future__ import annotations

import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # options of glibc's mallopt
KEPT = 1 << 30
USUAL = 1 << 25
"""What the C library comes to by itself once blocks of this size have been freed."""


def keep_memory(kept: int = KEPT) -> bool:
    """Asks the C library not to hand large blocks back to the system; False where it cannot be asked.

    Otherwise every large tensor of every step is mapped anew, page by page: about a tenth of a training step.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        ask = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return all(ask(option, size) == 1 for option, size in ((MMAP_THRESHOLD, kept), (TRIM_THRESHOLD, 2 * kept - 1)))
