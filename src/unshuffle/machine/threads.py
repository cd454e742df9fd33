"""How many threads a program uses: few enough that a busy machine stays usable."""

from __future__ import annotations

import os
import sys

from unshuffle.errors import ConfigError
from unshuffle.machine.processors import idle_processors, processors

VARIABLE = "UNSHUFFLE_THREADS"


def wanted_threads(*, large: bool) -> int:
    """The user's wish, else one, or for large networks all idle processors.

    Threads that wait for each other on a busy machine are slower than one by an order of magnitude, and the products
    of a small network are too short to be split.
    """
    wish = os.environ.get(VARIABLE, "") or os.environ.get("OMP_NUM_THREADS", "")
    if not wish:
        return idle_processors() if large else 1
    if not wish.isdecimal() or int(wish) < 1:
        raise ConfigError(f"{VARIABLE}={wish}: expected a number from 1. Leave it out for the default.")
    return int(wish)


def use_threads(*, large: bool) -> int:
    """Sets torch's threads, where torch is in use; a number that the program around this one has chosen is kept."""
    threads = wanted_threads(large=large)
    torch = sys.modules.get("torch")
    if torch is None:
        return threads
    if os.environ.get(VARIABLE) or torch.get_num_threads() == processors():
        torch.set_num_threads(threads)
    return int(torch.get_num_threads())
