"""How many threads a model uses: few enough that a busy machine stays usable."""

from __future__ import annotations

import os

import torch

from unshuffle.errors import ConfigError

VARIABLE = "UNSHUFFLE_THREADS"


def use_threads(*, large: bool) -> int:
    """Sets and gives the number of threads: the user's wish, else one, or for large networks all idle processors.

    Threads that wait for each other on a busy machine are slower than one by an order of magnitude, and the products
    of a small network are too short to be shared out. A number that the program around this one has chosen is kept.
    """
    wish = os.environ.get(VARIABLE, "")
    if wish:
        if not wish.isdecimal() or int(wish) < 1:
            raise ConfigError(f"{VARIABLE}={wish}: expected a number from 1. Leave it out for the default.")
        torch.set_num_threads(int(wish))
    elif "OMP_NUM_THREADS" not in os.environ and torch.get_num_threads() == processors():
        torch.set_num_threads(idle_processors() if large else 1)
    return torch.get_num_threads()


def processors() -> int:
    """Those that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def idle_processors() -> int:
    """Those that others leave free at this moment, at least one."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, processors() - round(busy))
