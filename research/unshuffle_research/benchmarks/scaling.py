"""Two processes of one thread each against one; told only where the machine itself can do two things at once."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from unshuffle.system.folder import save_model
from unshuffle_research.benchmarks.documents import nips_like
from unshuffle_research.benchmarks.machine import CONCURRENT, two_at_once
from unshuffle_research.benchmarks.models import decoding_model
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target, environment

TWO = 1.7


def run(settings: Settings) -> Report:
    """Documents a second, on the clock."""
    machine = two_at_once(settings.quick)
    documents = 8 if settings.quick else 512
    with tempfile.TemporaryDirectory() as folder:
        save_model(decoding_model("irse-grn", nips_like(40), settings), Path(folder) / "model")
        one = _rate(Path(folder) / "model", 1, documents)
        two = _rate(Path(folder) / "model", 2, documents)
    target = Target(name="two processes in times of one", ratio=two / one, limit=TWO, noisy=machine < CONCURRENT)
    return Report("scaling", (target,), {"two matrix products at once, in times of one": machine})


def _rate(model: Path, processes: int, documents: int) -> float:
    """Documents a second of processes that order as many each, from the moment all are ready."""
    command = [sys.executable, "-m", "unshuffle_research.benchmarks.scaling", str(model), str(documents)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
        for _ in range(processes)
    ]
    for process in running:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("a process of the scaling benchmark could not start")
    start = time.perf_counter()
    for process in running:  # all are told before the first is waited for
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in running:
        process.communicate()
    return processes * documents / (time.perf_counter() - start)


def work(model: str, documents: int) -> None:
    """One process: gets ready, waits, orders."""
    from unshuffle.system.orderer import Orderer

    orderer = Orderer.from_pretrained(model)
    texts = nips_like(documents, seed=5)
    list(orderer.order_many(texts[:8]))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    list(orderer.order_many(texts))


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]))
