"""What the machine can do at this moment, measured in this process: the denominator of every share."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import torch

SIDE = 768
"""Side of the square matrices: three of them stay in the last cache."""
CONCURRENT = 1.8
"""What two products side by side must reach in times of one, else the machine is too busy to say anything."""


def sgemm_rate(repeats: int = 10) -> float:
    """Best of some products, in floating-point operations a second of one thread."""
    one, other = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)
    best = min(seconds(lambda: torch.mm(one, other)) for _ in range(repeats))
    return 2 * SIDE**3 / best


def seconds(call: Callable[[], object]) -> float:
    """Processor time of a call; with one thread on a quiet machine that is the time on the clock."""
    start = time.process_time()
    call()
    return time.process_time() - start


def side_by_side(calls: Mapping[str, Callable[[], object]], *, repeats: int) -> dict[str, float]:
    """Best time of each call, taken in turn so that whatever disturbs the machine disturbs all alike."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            best[name] = min(best[name], seconds(call))
    return best


def two_at_once(quick: bool) -> float:
    """How many times one process's products two processes get done together."""
    span = 0.3 if quick else 3.0
    alone = _products([1], span)
    together = _products([1, 2], span)
    return together / alone


def _products(processes: Sequence[int], span: float) -> float:
    """Products a second of some processes that work at the same time, on the clock."""
    code = (
        "import sys, time, torch\n"
        "torch.set_num_threads(1)\n"
        f"a = torch.randn({SIDE}, {SIDE})\n"
        "torch.mm(a, a)\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "done, start = 0, time.perf_counter()\n"
        f"while time.perf_counter() - start < {span}:\n"
        "    torch.mm(a, a)\n"
        "    done += 1\n"
        "print(done / (time.perf_counter() - start))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in processes
    ]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return sum(float(process.communicate()[0]) for process in running)


def one_thread() -> None:
    """Equal threads for everything that is compared."""
    torch.set_num_threads(1)


def described() -> dict[str, object]:
    """What a reader needs to judge the figures."""
    return {"processors": os.cpu_count(), "threads": torch.get_num_threads(), "load": round(os.getloadavg()[0], 1)}
