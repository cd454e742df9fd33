"""Table 1: accuracy, tau and perfect match ratio of every system on a data set."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from unshuffle_research.experiments.bench import Bench, band_over, cut_mark, cut_note, level_with_best, run_of
from unshuffle_research.experiments.measure import Measured
from unshuffle_research.experiments.plan import Dataset
from unshuffle_research.experiments.plots import Panel, dots
from unshuffle_research.experiments.published import printed, shown
from unshuffle_research.experiments.sheet import Plot, Sheet, Table, spread

MEASURES = {"acc_micro": "Acc (micro)", "tau": "τ", "pmr": "PMR"}
LEVEL = "°"


def main(bench: Bench) -> Iterator[Sheet]:
    """One sheet a data set."""
    for dataset in bench.datasets:
        if rows := bench.rows(dataset):
            yield _sheet(dataset, rows)


def paper_column(dataset: Dataset, what: str) -> str:
    """The head of the column of printed figures, which says whose data they are on."""
    return f"paper: {what}" if dataset.comparable else f"paper, other data: {what}"


def _sheet(dataset: Dataset, rows: dict[str, list[Measured]]) -> Sheet:
    cells, figures, level = [], {}, level_with_best(rows)
    for row, runs in rows.items():
        paper = printed(dataset.preset.published, row)
        tests = [run.test for run in runs]
        reached = {name: spread([test[name] for test in tests]) for name in (*MEASURES, "acc_macro")}
        reached["tau"] += LEVEL if row in level else ""
        cells.append(
            (
                runs[0].trained.plan.label,
                shown(paper),
                *reached.values(),
                str(len(runs)),
                f"{sum(run.trained.minutes for run in runs) / len(runs):.0f}" + cut_mark(run.trained for run in runs),
                f"{runs[0].trained.parameters / 1e6:.1f} M",
            )
        )
        figures[row] = {name: [test[name] for test in tests] for name in (*MEASURES, "acc_macro", "head", "tail")}
    head = ("system", paper_column(dataset, "Acc / τ / PMR"), *MEASURES.values(), "Acc (macro)", "seeds", "minutes")
    table = Table(
        f"Test set, {rows_shuffles(rows)} shuffles a seed",
        (*head, "parameters"),
        tuple(cells),
        " ".join(filter(None, (cut_note(run.trained for runs in rows.values() for run in runs), level_note(level)))),
    )
    labels = [runs[0].trained.plan.label for runs in rows.values()]
    theirs = [printed(dataset.preset.published, row) for row in rows]
    panels = [
        Panel(
            title, [band_over(runs, name) for runs in rows.values()], [row[column] if row else None for row in theirs]
        )
        for column, (name, title) in enumerate(MEASURES.items())
    ]
    figure = dots(labels, panels, paper="paper" if dataset.comparable else "paper, on its own data")
    return Sheet(
        dataset=dataset.name,
        subtitle=dataset.described,
        tables=(table,),
        plots=(Plot("systems", "Each system on the test set.", figure),),
        notes=(
            "Acc is micro (share of all sentences), as the paper's figures fit; BERSON's published Acc is macro.",
            "The paper's IRSE-GRN figures were measured with a classifier that is asked in the true direction only, "
            "B-TSort's with a sort that reads the true order; see docs/leaks.md.",
        ),
        figures=figures,
        runs=tuple(run_of(run.trained) for runs in rows.values() for run in runs),
    )


def level_note(level: Collection[str]) -> str:
    """What the ring means, where there is one."""
    return f"{LEVEL} the best finished row in τ, or behind it by no more than chance explains." if level else ""


def rows_shuffles(rows: dict[str, list[Measured]]) -> int:
    """How often each document was shuffled."""
    return next(iter(rows.values()))[0].shuffles
