"""Tau by the number of sentences, with bootstrap bands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from unshuffle.metrics.bootstrap import Band, bootstrap_band
from unshuffle.seeds import derived
from unshuffle_research.experiments.bench import DRAWS, Bench, cut_mark, cut_note, run_of
from unshuffle_research.experiments.measure import Measured
from unshuffle_research.experiments.plan import Dataset
from unshuffle_research.experiments.plots import Curve, curves
from unshuffle_research.experiments.sheet import Plot, Sheet, Table, banded

Group = tuple[int, int]
"""The shortest and the longest document of a point."""


def length(bench: Bench) -> Iterator[Sheet]:
    """One sheet a data set."""
    for dataset in bench.datasets:
        if rows := bench.rows(dataset):
            yield _sheet(dataset, rows, bench.settings.fewest)


def groups(lengths: Sequence[int], fewest: int) -> list[Group]:
    """Neighbouring lengths joined until each group has enough documents; what is left joins the last."""
    counts = Counter(int(size) for size in lengths if size > 1)
    found: list[Group] = []
    start, inside = 0, 0
    for size in sorted(counts):
        start = start if inside else size
        inside += counts[size]
        if inside >= fewest:
            found.append((start, size))
            inside = 0
    if inside:
        longest = max(counts)
        found = [*found[:-1], (found[-1][0], longest)] if found else [(start, longest)]
    return found


def _bands(runs: Sequence[Measured], spans: Sequence[Group]) -> list[Band]:
    lengths = runs[0].document_lengths
    values = np.mean([run.by_document("tau") for run in runs], 0)
    return [
        bootstrap_band(
            values[(low <= lengths) & (lengths <= high)], np.random.default_rng(derived(1, "length", low)), draws=DRAWS
        )
        for low, high in spans
    ]


def _seeds(rows: dict[str, list[Measured]]) -> str:
    return "Seeds: " + ", ".join(f"{runs[0].trained.plan.label} {len(runs)}" for runs in rows.values()) + "."


def _sheet(dataset: Dataset, rows: dict[str, list[Measured]], fewest: int) -> Sheet:
    first = next(iter(rows.values()))[0]
    lengths = first.document_lengths
    spans = groups(lengths.tolist(), fewest)
    names = [str(low) if low == high else f"{low}–{high}" for low, high in spans]
    counts = [int(((low <= lengths) & (lengths <= high)).sum()) for low, high in spans]
    bands = {row: _bands(runs, spans) for row, runs in rows.items()}
    labels = {row: runs[0].trained.plan.label for row, runs in rows.items()}
    table = Table(
        "τ by number of sentences, with 95 % of resampled documents",
        ("sentences", "documents", *(labels[row] + cut_mark(run.trained for run in rows[row]) for row in rows)),
        tuple(
            (name, str(count), *(banded(bands[row][index], 1) for row in rows))
            for index, (name, count) in enumerate(zip(names, counts, strict=True))
        ),
        cut_note(run.trained for runs in rows.values() for run in runs),
    )
    indices = list(range(len(spans)))
    figure = curves(
        [Curve(labels[row], indices, bands[row]) for row in rows],
        x="sentences of the document",
        y="τ",
        ticks={index: f"{name}\n({count})" for index, name, count in zip(indices, names, counts, strict=True)},
    )
    return Sheet(
        dataset=dataset.name,
        subtitle=dataset.described,
        tables=(table,),
        plots=(
            Plot("tau", "τ by number of sentences (documents in parentheses); bands hold 95 % of resamples.", figure),
        ),
        notes=("The paper draws this for arXiv and prints no figures.", _seeds(rows)),
        figures={
            row: {name: [band.value, band.lower, band.upper] for name, band in zip(names, bands[row], strict=True)}
            for row in rows
        },
        runs=tuple(run_of(run.trained) for runs in rows.values() for run in runs),
    )
