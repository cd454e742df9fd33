"""How many processors there are, and how many are idle."""

from __future__ import annotations

import os


def processors() -> int:
    """Those that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def idle_processors() -> int:
    """Those that others leave free at this moment, at least one."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, processors() - round(busy))
