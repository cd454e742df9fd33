"""Table 6: parameters and run time on the validation set, both classifiers included."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from unshuffle.evaluation.predict import shuffled
from unshuffle.metrics.bootstrap import Band
from unshuffle.storage.files import write_json
from unshuffle_research.experiments.bench import Bench, cut_mark, cut_note, run_of
from unshuffle_research.experiments.main import paper_column
from unshuffle_research.experiments.measure import about
from unshuffle_research.experiments.models import Trained
from unshuffle_research.experiments.plan import Dataset
from unshuffle_research.experiments.plots import Panel, dots
from unshuffle_research.experiments.published import printed
from unshuffle_research.experiments.sheet import Plot, Sheet, Table

THEIR_BASELINE = "se-grn-relations"


def cost(bench: Bench) -> Iterator[Sheet]:
    """One sheet a data set; the time of one seed tells enough."""
    for dataset in bench.datasets:
        plans = [plan for plan in bench.plans(dataset) if plan.seed == bench.seeds[0]]
        timed = {}
        for trained in bench.trained(plans):
            seconds = _seconds(bench, trained)
            timed[trained.plan.row] = (trained, seconds)
            path = bench.out / f"{trained.plan.row}-{dataset.name}-{trained.plan.seed}.json"
            write_json(path, about(trained) | {"seconds": seconds, "beam": bench.beam, "split": "valid"})
            bench.written.append(path)
        if timed:
            yield _sheet(dataset, timed, bench.settings.baseline, bench.beam)


def _seconds(bench: Bench, trained: Trained) -> list[float]:
    """Wall-clock seconds of ordering the validation documents once, several times over; parsing is done before."""
    documents = bench.models.parsed(trained.plan.dataset, "valid", trained.plan.config.parser)
    drawn = [document for document, _ in shuffled(documents, 0, trained.plan.seed)]
    found = []
    for _ in range(bench.settings.repeats):
        started = time.perf_counter()
        for _ordering in trained.orderer.order_many(drawn, beam=bench.beam, n_best=1):
            pass
        found.append(round(time.perf_counter() - started, 3))
    return found


def _sheet(dataset: Dataset, timed: dict[str, tuple[Trained, list[float]]], baseline: str, beam: int) -> Sheet:
    base = timed.get(baseline) or next(iter(timed.values()))
    base_seconds, base_parameters = min(base[1]), base[0].parameters
    theirs = printed("cost", dataset.preset.published, THEIR_BASELINE)
    cells = []
    ratios = {"time": list[Band | None](), "parameters": list[Band | None]()}
    papers = {"time": list[float | None](), "parameters": list[float | None]()}
    for row, (trained, seconds) in timed.items():
        paper = printed("cost", dataset.preset.published, row)
        slower, larger = min(seconds) / base_seconds, trained.parameters / base_parameters
        ratios["time"].append(Band(slower, slower, max(seconds) / base_seconds, 1, len(seconds)))
        ratios["parameters"].append(Band(larger, larger, larger, 1, 1))
        papers["time"].append(paper[0] / theirs[0] if paper and theirs else None)
        papers["parameters"].append(paper[1] / theirs[1] if paper and theirs else None)
        cells.append(
            (
                trained.plan.label + cut_mark([trained]),
                f"{paper[0]:.1f} s / {paper[1]:.1f} M" if paper else "–",
                _times(papers["time"][-1], papers["parameters"][-1]),
                f"{min(seconds):.2f} s",
                f"{1000 * min(seconds) / len(dataset.splits.valid):.1f}",
                f"{trained.parameters / 1e6:.2f} M",
                _times(slower, larger),
            )
        )
    head = (
        "system",
        paper_column(dataset, "time / parameters"),
        paper_column(dataset, "ratios"),
        "time",
        "ms a document",
        "parameters",
    )
    labels = [trained.plan.label for trained, _ in timed.values()]
    panels = [Panel(f"{name}, relative to {base[0].plan.label}", ratios[name], papers[name]) for name in ratios]
    figure = dots(
        labels,
        panels,
        ours="ours, best to worst repeat",
        paper="paper" if dataset.comparable else "paper, on its own data",
    )
    return Sheet(
        dataset=dataset.name,
        subtitle=dataset.described,
        tables=(
            Table(
                f"Ordering the validation set, beam {beam}, one thread",
                (*head, "ratios"),
                tuple(cells),
                cut_note(trained for trained, _ in timed.values()),
            ),
        ),
        plots=(Plot("cost", "Time (best to worst of the repeats) and parameters as ratios.", figure),),
        notes=(
            "Ours includes both classifiers, as every user has to run them; the paper's program reads finished link "
            "weights, so its seconds leave them out. Its baseline is SE-GRN with entity relations, on a graphics card.",
            "How long a model was trained changes its time only by the number of rounds that its classifiers take.",
        ),
        figures={
            row: {"seconds": seconds, "median": statistics.median(seconds), "parameters": trained.parameters}
            for row, (trained, seconds) in timed.items()
        },
        runs=tuple(run_of(trained) for trained, _ in timed.values()),
    )


def _times(slower: float | None, larger: float | None) -> str:
    return "–" if slower is None or larger is None else f"{slower:.2f} × / {larger:.2f} ×"
