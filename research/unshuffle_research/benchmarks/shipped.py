"""The shipped model as a user meets it: six sentences from a cold start, memory, and a thousand abstracts."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from unshuffle_research.benchmarks.cold_start import MOST, STEPS
from unshuffle_research.benchmarks.documents import nips_like, of_size
from unshuffle_research.benchmarks.machine import sgemm_rate
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target, environment

MEMORY = 1.2
"""Gigabytes."""
MODEL = "default"
ORDER = (
    "import sys; sys.argv = ['unshuffle', *sys.argv[1:]]\n"
    "from unshuffle.cli import main\n"
    "try:\n    main()\nexcept SystemExit as left:\n    assert not left.code, left.code\n"
    "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0], file=sys.stderr)\n"
)


def run(settings: Settings) -> Report:
    """The ratio is to what importing torch and spaCy takes; one thread."""
    repeats, count = (1, 8) if settings.quick else (5, 1_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        six, many = folder / "six.txt", folder / "many.jsonl"
        six.write_text("\n".join(of_size(6, 25)[0].sentences) + "\n", encoding="utf-8")
        rows = (json.dumps({"id": document.id, "sentences": document.sentences}) for document in nips_like(count))
        many.write_text("\n".join(rows) + "\n", encoding="utf-8")
        bare = min(_run(["-c", "import torch, spacy"])[0] for _ in range(repeats))
        cold = [_run(["-c", ORDER, "order", str(six)]) for _ in range(repeats)]
        steps = json.loads(_run(["-c", STEPS, MODEL, str(six)])[1])
        rate = sgemm_rate()
        bulk = _run(["-c", ORDER, "order", str(many), "--out", str(folder / "out.jsonl"), "--format", "json"])
    whole = min(seconds for seconds, _, _ in cold)
    peak = max(float(said.split()[-1]) / 2**20 for _, _, said in [*cold, bulk])
    start = sum(seconds for step, seconds in steps.items() if not step.endswith("order"))
    return Report(
        "shipped",
        (
            Target(name="order, in times of importing torch and spaCy", ratio=whole / bare, limit=MOST, at_most=True),
            Target(name="peak memory (GB)", ratio=peak, limit=MEMORY, at_most=True),
        ),
        {
            "seconds": {"order": whole, "import torch, spacy": bare},
            "seconds of each step": steps,
            f"documents per second, {count} abstracts": count / max(bulk[0] - start, 1e-9),
            "sgemm (GFLOP/s)": rate / 1e9,
        },
    )


def _run(arguments: list[str]) -> tuple[float, str, str]:
    """Seconds on the clock and what was printed."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, env=environment(), timeout=3600
    )
    return time.perf_counter() - began, done.stdout, done.stderr
