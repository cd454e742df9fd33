"""Long documents: seconds and memory at 50, 200 and 1,000 sentences, and tau on real stories and articles."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from unshuffle.metrics.orders import tau
from unshuffle.text.document import Document
from unshuffle.text.readers.read import read_documents
from unshuffle_research.benchmarks.documents import of_size
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target, environment

SIZES = 50, 200, 1_000
GROWTH = 4.0
"""Most times the linear extrapolation from 50 sentences that 200 may take."""
MEMORY = 2_000.0
"""Megabytes."""
FILES = (
    "prose/gutenberg_stories/test.jsonl.gz",
    "prose/standardebooks/test.jsonl.gz",
    "prose/britannica9/test.jsonl.gz",
    "prose/openstax/test.jsonl.gz",
)
WORK = (
    "import json, sys, time\n"
    "from unshuffle.system.orderer import Orderer\n"
    "orderer = Orderer.from_pretrained('default', threads=1)\n"
    "orderer.order(['One.', 'Two.'])\n"
    "spent, orders = [], []\n"
    "for text in json.load(open(sys.argv[1])):\n"
    "    start = time.process_time()\n"
    "    found = orderer.order(text)\n"
    "    spent.append(time.process_time() - start)\n"
    "    orders.append([list(found.order), found.n_best[0].log_probability])\n"
    "peak = int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024\n"
    "print(json.dumps([spent, peak, orders]))\n"
)


def run(settings: Settings) -> Report:
    """One process per size; `--data` names the folder of real texts, else sentences are made up and tau is left out."""
    sizes = (5, 10) if settings.quick else SIZES
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            figures[str(size)] = _measured(Path(folder) / "texts.json", _documents(settings, size))
    ratio = figures[str(sizes[1])]["seconds"] / (figures[str(sizes[0])]["seconds"] * sizes[1] / sizes[0])
    return Report(
        "long",
        (
            Target(
                name=f"{sizes[1]} sentences, in times of the line through {sizes[0]}",
                ratio=ratio,
                limit=GROWTH,
                at_most=True,
            ),
            Target(
                name=f"peak memory, {sizes[-1]} sentences (MB)",
                ratio=figures[str(sizes[-1])]["megabytes"],
                limit=MEMORY,
                at_most=True,
            ),
        ),
        {f"{size} sentences": found for size, found in figures.items()},
    )


def _documents(settings: Settings, size: int) -> list[Document]:
    """The first so many sentences of texts that have as many, at most one of each file and fewer of the longest."""
    if not settings.data:
        return of_size(size, 20)
    found = []
    for file in FILES[: 2 if size > 500 else None]:
        path = Path(settings.data) / file
        texts = (document for document in read_documents(path) if len(document.sentences) >= size)
        wanted = 1 if size > 100 else 5
        found += [Document(document.sentences[:size]) for _, document in zip(range(wanted), texts, strict=False)]
    if found or size <= 100:
        return found
    # No single text is as long: texts of one file, end to end.
    sentences = [
        sentence for document in read_documents(Path(settings.data) / FILES[0]) for sentence in document.sentences
    ]
    return [Document(tuple(sentences[:size]))]


def _measured(file: Path, documents: list[Document]) -> dict[str, Any]:
    draw = np.random.default_rng(1)
    shuffles = [draw.permutation(len(document.sentences)).tolist() for document in documents]
    texts = [
        [document.sentences[position] for position in shuffle]
        for document, shuffle in zip(documents, shuffles, strict=True)
    ]
    file.write_text(json.dumps(texts), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", WORK, str(file)], capture_output=True, text=True, check=True, env=environment()
    )
    spent, peak, orders = json.loads(done.stdout.splitlines()[-1])
    true = [[shuffle[position] for position in order] for (order, _), shuffle in zip(orders, shuffles, strict=True)]
    return {
        "documents": len(documents),
        "seconds": mean(spent),
        "megabytes": peak,
        "tau": 100 * mean(tau(order, range(len(order))) for order in true),
        "log-probability": mean(value for _, value in orders),
    }
