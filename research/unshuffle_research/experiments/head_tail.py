"""Table 3: how often the first and the last sentence are right."""

from __future__ import annotations

from collections.abc import Iterator

from unshuffle_research.experiments.bench import Bench, band_over, cut_mark, cut_note, run_of
from unshuffle_research.experiments.main import paper_column, rows_shuffles
from unshuffle_research.experiments.measure import Measured
from unshuffle_research.experiments.plan import Dataset
from unshuffle_research.experiments.plots import Panel, dots
from unshuffle_research.experiments.published import printed, shown
from unshuffle_research.experiments.sheet import Plot, Sheet, Table, spread

ENDS = ("head", "tail")


def head_tail(bench: Bench) -> Iterator[Sheet]:
    """One sheet a data set."""
    for dataset in bench.datasets:
        if rows := bench.rows(dataset):
            yield _sheet(dataset, rows)


def _sheet(dataset: Dataset, rows: dict[str, list[Measured]]) -> Sheet:
    paper = {row: printed("head-tail", dataset.preset.published, row) for row in rows}
    labels = {row: runs[0].trained.plan.label for row, runs in rows.items()}
    values = {row: {end: [run.test[end] for run in runs] for end in ENDS} for row, runs in rows.items()}
    table = Table(
        f"First and last sentence right, %, {rows_shuffles(rows)} shuffles a seed",
        ("system", paper_column(dataset, "head / tail"), *ENDS, "seeds"),
        tuple(
            (
                labels[row] + cut_mark(run.trained for run in runs),
                shown(paper[row]),
                *(spread(values[row][end]) for end in ENDS),
                str(len(runs)),
            )
            for row, runs in rows.items()
        ),
        cut_note(run.trained for runs in rows.values() for run in runs),
    )
    panels = [
        Panel(
            f"{end}, %",
            [band_over(runs, end) for runs in rows.values()],
            [found[column] if (found := paper[row]) else None for row in rows],
        )
        for column, end in enumerate(ENDS)
    ]
    figure = dots(list(labels.values()), panels, paper="paper" if dataset.comparable else "paper, on its own data")
    return Sheet(
        dataset=dataset.name,
        subtitle=dataset.described,
        tables=(table,),
        plots=(Plot("ends", "First and last sentence right.", figure),),
        notes=("The paper prints this table for SIND and arXiv.",),
        figures={row: dict(values[row]) for row in rows},
        runs=tuple(run_of(run.trained) for runs in rows.values() for run in runs),
    )
