"""From a fresh clone to the first order: `make demo` now and before ordering could do without torch."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from unshuffle_research import ROOT
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.shipped import BEFORE
from unshuffle_research.benchmarks.targets import Report, Target

SHARE = 1 / 3
"""Of the time before that it may take."""


def run(settings: Settings) -> Report:
    """Both in clones of this repository, packages fetched as on a new machine; a quick run fetches and runs nothing."""
    commits = ["HEAD"] if settings.quick else [BEFORE, "HEAD"]
    make = ["make", "-n", "demo"] if settings.quick else ["make", "demo"]
    with tempfile.TemporaryDirectory() as folder:
        spent = {commit: _demo(Path(folder) / commit, commit, make) for commit in commits}
    ratio = spent["HEAD"] / spent[commits[0]]
    target = Target(name="make demo in a fresh clone, in times of before", ratio=ratio, limit=SHARE, at_most=True)
    names = {"HEAD": "now", BEFORE: "before"}
    return Report("demo", (target,), {"seconds": {names[commit]: time for commit, time in spent.items()}})


def _demo(folder: Path, commit: str, make: list[str]) -> float:
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MAKE", "VIRTUAL"))
    }
    subprocess.run(["git", "clone", "-q", "--no-local", str(ROOT), str(folder)], check=True)
    subprocess.run(["git", "checkout", "-q", _named(commit)], cwd=folder, check=True)
    start = time.perf_counter()
    subprocess.run(make, cwd=folder, check=True, capture_output=True, env=variables)
    return time.perf_counter() - start


def _named(commit: str) -> str:
    """What HEAD means here, where the clone's own may be another branch."""
    told = subprocess.run(["git", "rev-parse", commit], cwd=ROOT, check=True, capture_output=True, text=True)
    return told.stdout.strip()
