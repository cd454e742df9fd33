"""Order 100,000 made-up documents on a Ray cluster of this machine and kill a worker half-way.

Checks that every id is in the answer or among the errors exactly once, that memory stays flat, and compares one
worker with two on the same documents; writes research/results/bulk/ray.json, which
`unshuffle_research.bulk.scale` reads.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unshuffle_research import RESULTS, ROOT

os.environ.setdefault("OMP_NUM_THREADS", "1")
ACTOR = "OrderParts"
"""What Ray writes into the title of a worker's process."""
BAD = 200
"""One document of so many is broken, to be found among the errors."""
NOUNS = [
    "box",
    "key",
    "boat",
    "rope",
    "field",
    "seed",
    "pot",
    "lamp",
    "bridge",
    "letter",
    "river",
    "window",
    "oven",
    "storm",
    "harbour",
    "garden",
    "train",
    "clock",
]
VERBS = ["finds", "opens", "carries", "leaves", "watches", "mends", "follows", "hides"]


def document(number: int, draw: random.Random) -> dict[str, Any]:
    """Three to eight sentences about a few things."""
    things = draw.sample(NOUNS, 4)
    sentences = [
        f"The {draw.choice(things)} {draw.choice(VERBS)} the {draw.choice(things)} on day {draw.randrange(900)}."
        for _ in range(draw.randint(3, 8))
    ]
    if number % BAD == 7:
        sentences[0] = ""
    return {"id": f"doc-{number:07d}", "sentences": sentences, "shelf": number % 13}


def write_corpus(folder: Path, documents: int, files: int) -> None:
    """The documents as JSON lines in so many files."""
    folder.mkdir(parents=True)
    draw = random.Random(1)
    for file in range(files):
        with (folder / f"part-{file:03d}.jsonl").open("w", encoding="utf-8") as target:
            for number in range(file * documents // files, (file + 1) * documents // files):
                target.write(json.dumps(document(number, draw)) + "\n")


def workers() -> Iterator[tuple[int, int]]:
    """Process number and resident bytes of every Ray worker that orders."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            title = (folder / "cmdline").read_bytes()
            if b"ray::" in title and ACTOR.encode() in title:
                pages = int((folder / "statm").read_text().split()[1])
                yield int(folder.name), pages * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError):
            continue  # it has ended in between


class Watch:
    """Looks at the workers' memory every second, and kills one of them once."""

    def __init__(self, kill_after: int) -> None:
        self.done = 0
        self.times: list[tuple[float, int]] = []
        self.memory: list[tuple[float, int]] = []
        self.killed: int | None = None
        self._kill_after = kill_after
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *trouble: object) -> None:
        self._stop.set()
        self._thread.join()

    def note(self, done: Any) -> None:
        """A part is finished."""
        self.done += done.ordered + done.bad
        self.times.append((time.monotonic(), self.done))

    def _look(self) -> None:
        while not self._stop.wait(1.0):
            now = list(workers())
            self.memory += [(time.monotonic(), size) for _, size in now]
            if self._kill_after and self.killed is None and self.done >= self._kill_after and now:
                self.killed = now[0][0]
                os.kill(self.killed, signal.SIGKILL)

    def steady(self, workers: int) -> float:
        """Documents a second once every worker has loaded its model and warmed up: from its second part on."""
        warm = max(0, min(2 * workers, len(self.times) - 2))
        (start, before), (end, after) = self.times[warm], self.times[-1]
        return (after - before) / max(end - start, 1e-9)

    def growth(self) -> float:
        """How much more memory a worker holds in the last quarter of the run than in the second, as a share."""
        start, end = self.memory[0][0], self.memory[-1][0]
        quarter = (end - start) / 4
        early = [size for at, size in self.memory if start + quarter <= at < start + 2 * quarter]
        late = [size for at, size in self.memory if at >= end - quarter]
        return statistics.median(late) / statistics.median(early) - 1 if early and late else float("nan")


def counted(out: Path) -> tuple[Counter[str], int, int]:
    """How often each id is there, and how many rows are answers and errors."""
    from pyarrow import parquet

    ids: Counter[str] = Counter()
    rows = []
    for name in ("ordered", "errors"):
        found = [each for file in sorted((out / name).glob("*.parquet")) for each in _ids(parquet, file)]
        ids.update(found)
        rows.append(len(found))
    return ids, rows[0], rows[1]


def _ids(parquet: Any, file: Path) -> list[str]:
    return [each for each in parquet.read_table(file, columns=["id"]).column("id").to_pylist() if each is not None]


def run(corpus: Path, out: Path, model: str, count: int, part: int, kill_after: int = 0) -> tuple[Watch, Any]:
    """One bulk run on the cluster."""
    from unshuffle.bulk.order_files import order_files

    with Watch(kill_after) as watch:
        report = order_files([corpus], out, "ray", model, workers=count, rows_per_part=part, report=watch.note)
    return watch, report


def main() -> int:
    """All checks; leaves with 1 where one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--compare", type=int, default=10_000, help="documents of the comparison of one worker and two")
    parser.add_argument("--repeats", type=int, default=2, help="turns of that comparison")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--part", type=int, default=500)
    parser.add_argument("--model", default="", help="a folder or a shipped model; else a tiny untrained one")
    parser.add_argument("--results", type=Path, default=RESULTS / "bulk" / "ray.json")
    chosen = parser.parse_args()
    import ray

    from unshuffle.evaluation.results import commit, versions

    load = os.getloadavg()[0]
    folder = Path(tempfile.mkdtemp(prefix="unshuffle-bulk-"))
    try:
        model = chosen.model
        if not model:
            sys.path.insert(0, str(ROOT))  # the smallest model there is belongs to the tests
            from tests.fixtures.tiny import save_tiny

            model = str(save_tiny(folder / "tiny", parser="default"))
        write_corpus(folder / "few", chosen.compare, 2)
        write_corpus(folder / "many", chosen.documents, 10)
        ray.init(num_cpus=max(2, chosen.workers), include_dashboard=False, log_to_driver=False)
        measured: dict[int, list[float]] = {1: [], 2: []}
        for turn in range(chosen.repeats):  # in turns, so that what else the machine does falls on both
            for count in (1, 2):
                # Small parts: where workers finish side by side, the first part that counts was mostly done before.
                part = max(1, min(chosen.part, chosen.compare // 40))
                watch, report = run(folder / "few", folder / f"out-{turn}-{count}", model, count, part)
                measured[count].append(watch.steady(count))
                speed, whole = measured[count][-1], report.seconds
                print(f"{count} workers: {speed:.1f} documents/s ({whole:.0f} s with the start)", flush=True)
        speeds = {count: max(found) for count, found in measured.items()}  # the best: others were disturbed
        watch, report = run(
            folder / "many", folder / "out", model, chosen.workers, chosen.part, kill_after=chosen.documents // 2
        )
        ids, ordered, errors = counted(folder / "out")
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
    wanted = {f"doc-{number:07d}" for number in range(chosen.documents)}
    checks = {
        "a worker was killed": watch.killed is not None,
        "every id exactly once": ids.keys() == wanted and set(ids.values()) == {1},
        "every broken document among the errors": errors
        == sum(number % BAD == 7 for number in range(chosen.documents)),
        "two workers at least 1.6 times one": speeds[2] >= 1.6 * speeds[1],
        # More than twice is no success but a sign that the machine was busy with something else.
        "and no more than 2.2 times": speeds[2] <= 2.2 * speeds[1],
        "memory flat (within 15 %)": watch.growth() < 0.15,
    }
    found = {
        "command": " ".join(["python", "-m", "unshuffle_research.bulk.ray", *sys.argv[1:]]),
        "commit": commit(),
        "versions": versions(),
        "machine": {"cores": os.cpu_count(), "system": platform.platform(), "python": platform.python_version()},
        "model": chosen.model or "tiny (untrained, width 8), with the shipped parser",
        "documents": chosen.documents,
        "rows_per_part": chosen.part,
        "workers": chosen.workers,
        "ordered": ordered,
        "errors": errors,
        "documents_per_second": {str(count): round(speed, 2) for count, speed in speeds.items()},
        "documents_per_second_of_each_turn": {str(count): found for count, found in measured.items()},
        "load_before": load,
        "ratio": round(speeds[2] / speeds[1], 3),
        "steady_documents_per_second": round(watch.steady(chosen.workers), 2),
        "seconds": report.seconds,
        "start_seconds": round(report.seconds - (watch.times[-1][0] - watch.times[0][0]), 2),
        "worker_megabytes": round(max(size for _, size in watch.memory) / 2**20, 1),
        "memory_growth": round(watch.growth(), 4),
        "checks": checks,
    }
    chosen.results.parent.mkdir(parents=True, exist_ok=True)
    chosen.results.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    for name, held in checks.items():
        print(f"  {'ok  ' if held else 'FAIL'} {name}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
