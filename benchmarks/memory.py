"""Memory: how much more it takes to order more documents from a file; the answer should be nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.documents import of_size
from benchmarks.models import model_of
from benchmarks.settings import Settings
from benchmarks.targets import Report, Target, environment
from unshuffle.cli.writing import write_pieces
from unshuffle.decode.contracts import Found
from unshuffle.graph.batch import Item
from unshuffle.rank.constraints import Constraints
from unshuffle.result import Ordering
from unshuffle.system.assemble import assembled
from unshuffle.system.folder import load_model, save_model
from unshuffle.system.orderer import Orderer
from unshuffle.text.mentions import NoParser
from unshuffle.text.readers.read import read_documents

SLOPE = 1.0
"""Bytes a document."""
DISTINCT = 500


class ConstantOrderer(Orderer):
    """Gives every document back as it came: readers, queue and writer without parser and network."""

    def _order_batch(
        self, items: list[Item], width: int, n_best: int, constraints: Constraints | None
    ) -> list[Ordering]:
        return [
            assembled(item, Found((tuple(range(item.graph.sentences)),), (0.0,)), (), n_best=1, calibration=None)
            for item in items
        ]


def run(settings: Settings) -> Report:
    """Highest resident memory of one process a size."""
    full, constant = [1_000, 10_000, 50_000], [50_000, 1_000_000]
    if settings.quick:
        full, constant = [20, 40, 80], [50, 100, 200]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # A small network: memory grows with what is held, not with how wide the vectors are.
        changes = ["refiner.grn.entity_width=16", "paragraph_encoder.entity_width=16"]
        save_model(model_of("irse-grn", of_size(6, 12, count=8), quick=True, changes=changes), folder / "model")
        peaks = {"in full": [_peak(folder, "full", count) for count in full]}
        peaks["constant scorer"] = [_peak(folder, "constant", count) for count in constant]
    slopes = {"in full": _slope(full, peaks["in full"]), "constant scorer": _slope(constant, peaks["constant scorer"])}
    return Report(
        "memory",
        tuple(
            Target(name=f"bytes a document, {name}", ratio=slope, limit=SLOPE, at_most=True)
            for name, slope in slopes.items()
        ),
        {
            "documents": {"in full": full, "constant scorer": constant},
            "peak (MB)": {name: [round(peak / 2**20, 1) for peak in some] for name, some in peaks.items()},
        },
    )


def _slope(counts: list[int], peaks: list[float]) -> float:
    """From the second size on: the first documents fill buffers and caches that then stay as they are."""
    counts, peaks = (counts[1:], peaks[1:]) if len(counts) > 2 else (counts, peaks)
    return max(0.0, float(np.polyfit(counts, peaks, 1)[0]))


def _peak(folder: Path, kind: str, count: int) -> float:
    command = [sys.executable, "-m", "benchmarks.memory", str(folder), kind, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    return float(done.stdout)


def _write_documents(file: Path, count: int) -> None:
    """Some hundred texts over and over: no two neighbours alike, and a reader cannot know."""
    lines = [json.dumps({"sentences": document.sentences}) + "\n" for document in of_size(6, 12, count=DISTINCT)]
    with file.open("w", encoding="utf-8") as out:
        out.writelines(lines[number % DISTINCT] for number in range(count))


def work(folder: Path, kind: str, count: int) -> int:
    """Orders a file and gives the highest resident memory in bytes."""
    file = folder / f"{kind}-{count}.jsonl"
    _write_documents(file, count)
    model = load_model(str(folder / "model"))
    orderer = Orderer(model) if kind == "full" else ConstantOrderer(model, parser=NoParser())

    def lines() -> Iterator[str]:
        for ordering in orderer.order_many(read_documents(str(file)), beam=1, n_best=1):
            yield json.dumps(ordering.to_json()) + "\n"

    write_pieces(lines(), file.with_suffix(".out"))
    # Not getrusage: that begins with the memory of the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


if __name__ == "__main__":
    sys.stdout.write(str(work(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
