"""Memory: how much more it takes to order more documents from a file; the answer should be nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from unshuffle.cli.terminal import write_pieces
from unshuffle.graph.prepare import DOCUMENTS, Item
from unshuffle.machine import settled
from unshuffle.result import Ordering
from unshuffle.search.contracts import Found
from unshuffle.system.assemble import assembled
from unshuffle.system.folder import load_model, save_model
from unshuffle.system.options import OrderOptions
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.text.parsing.mentions import NoParser
from unshuffle.text.readers.read import read_documents
from unshuffle_research.benchmarks.documents import of_size
from unshuffle_research.benchmarks.models import model_of
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target, environment

SLOPE = 1.0
"""Bytes a document."""
SIZE = (3, 8)
"""Sentences and words: short documents, for what is held for each does not depend on how long they are."""
DISTINCT = 2 * DOCUMENTS
"""Texts that come again and again. With as many as fill whole windows every batch has been seen before the first mark;
else each mark would be the peak of more kinds of batches than the one before, and rise without anything being held."""


class ConstantOrderer(Orderer):
    """Gives every document back as it came: readers, queue and writer without parser and network."""

    def _order_batch(self, items: list[Item], documents: list[Document], options: OrderOptions) -> list[Ordering]:
        found = [Found((tuple(range(item.graph.sentences)),), (0.0,)) for item in items]
        return [
            assembled(item, one, one, (), n_best=1, calibration=None) for item, one in zip(items, found, strict=True)
        ]


def run(settings: Settings) -> Report:
    """Highest resident memory after so many documents of one file, one process a kind."""
    marks = {
        "in full": [1_000, 10_000, 50_000, 100_000, 150_000, 200_000],
        "constant scorer": [50_000, 500_000, 1_000_000],
    }
    if settings.quick:
        marks = {"in full": [20, 40, 80], "constant scorer": [50, 100, 200]}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # A small network: memory grows with what is held, not with how wide the vectors are.
        changes = ["refiner.grn.entity_width=16", "paragraph_encoder.entity_width=16"]
        save_model(model_of("irse-grn", of_size(*SIZE, count=8), quick=True, changes=changes), folder / "model")
        peaks = {kind: _peaks(folder, kind, counts) for kind, counts in marks.items()}
    return Report(
        "memory",
        tuple(
            Target(name=f"bytes a document, {kind}", ratio=_slope(counts, peaks[kind]), limit=SLOPE, at_most=True)
            for kind, counts in marks.items()
        ),
        {
            "documents": marks,
            "peak (MB)": {kind: [round(peak / 2**20, 2) for peak in some] for kind, some in peaks.items()},
        },
    )


def _slope(counts: list[int], peaks: list[float]) -> float:
    """From the second mark on: the first documents fill buffers and caches that then stay as they are."""
    return max(0.0, float(np.polyfit(counts[1:], peaks[1:], 1)[0]))


def _peaks(folder: Path, kind: str, marks: list[int]) -> list[float]:
    command = [sys.executable, "-m", "unshuffle_research.benchmarks.memory", str(folder), kind, *map(str, marks)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    return [float(peak) for peak in json.loads(done.stdout)]


def _write_documents(file: Path, count: int) -> None:
    """Some hundred texts over and over: no two neighbours alike, and a reader cannot know."""
    lines = [json.dumps({"sentences": document.sentences}) + "\n" for document in of_size(*SIZE, count=DISTINCT)]
    with file.open("w", encoding="utf-8") as out:
        out.writelines(lines[number % DISTINCT] for number in range(count))


def work(folder: Path, kind: str, marks: list[int]) -> list[int]:
    """Orders a file and notes the highest resident memory in bytes at each mark.

    One process for all marks: two that do the same differ by a hundred kilobytes, which is more than the slope allows.
    """
    file = folder / f"{kind}.jsonl"
    _write_documents(file, marks[-1])
    model = load_model(str(folder / "model"))
    orderer = Orderer(model) if kind == "in full" else ConstantOrderer(model, parser=NoParser())
    peaks = []

    def lines() -> Iterator[str]:
        ordered = orderer.order_many(read_documents(str(file)), beam=1, n_best=1)
        for number, ordering in enumerate(settled(ordered), start=1):
            yield json.dumps(ordering.to_json()) + "\n"
            if number in marks:
                peaks.append(_highest())

    write_pieces(lines(), file.with_suffix(".out"))
    return peaks


def _highest() -> int:
    """Not by getrusage: that begins with the memory of the process that started this one."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


if __name__ == "__main__":
    sys.stdout.write(json.dumps(work(Path(sys.argv[1]), sys.argv[2], [int(mark) for mark in sys.argv[3:]])))
