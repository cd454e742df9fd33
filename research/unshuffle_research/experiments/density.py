"""Links of a document against the gain from refinement: the paper's explanation for SIND and ROCStory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from unshuffle.metrics.bootstrap import Band, Comparison
from unshuffle.system.rows import load_row
from unshuffle_research.experiments.bench import Bench, cut_mark, cut_note, lead_over, run_of
from unshuffle_research.experiments.measure import Measured
from unshuffle_research.experiments.models import Trained
from unshuffle_research.experiments.plan import Dataset
from unshuffle_research.experiments.plots import scatter
from unshuffle_research.experiments.published import printed
from unshuffle_research.experiments.sheet import Plot, Sheet, Table

PAPER_SETS = {"nips": "NIPS", "aan": "AAN", "sind": "SIND", "roc": "ROCStory", "arxiv": "arXiv"}
ALL = "all"
"""What a sheet of several data sets is called."""
REFINED = "irse-grn"
PAPER_BASELINE = "se-grn-relations"
"""What the paper extends; it has no figure for the control."""


@dataclass(frozen=True)
class Point:
    """One data set: how its documents are linked, and what refinement gains on them."""

    dataset: Dataset
    linked: dict[str, float]
    lead: Comparison
    accuracy: float
    """Of the initial classifier on validation pairs."""
    mark: str
    """A star where a time limit ended a training behind it."""


def density(bench: Bench) -> Iterator[Sheet]:
    """One sheet of all data sets together."""
    points: list[Point] = []
    runs: list[Measured] = []
    baseline = next((row for row in bench.systems if row != REFINED), bench.settings.baseline)
    for dataset in bench.datasets:
        rows = bench.rows(dataset)
        runs += [one for some in rows.values() for one in some]
        if baseline in rows and REFINED in rows:
            trained = rows[REFINED][0].trained
            lead = lead_over(rows[REFINED], rows[baseline], "tau")
            mark = cut_mark(one.trained for row in (REFINED, baseline) for one in rows[row])
            if lead is not None:
                points.append(Point(dataset, links(bench, trained), lead, initial_accuracy(trained), mark))
    if points:
        yield _sheet(points, runs, baseline)


def links(bench: Bench, trained: Trained) -> dict[str, float]:
    """Links of the test documents: in both directions, as the paper counts; linked share of all pairs."""
    documents = bench.models.parsed(trained.plan.dataset, "test", trained.plan.config.parser)
    items = list(bench.models.preparer(trained).items(documents))
    linked = np.array([item.graph.pairs.shape[1] for item in items], np.float64)
    every = np.array([item.graph.sentences * (item.graph.sentences - 1) / 2 for item in items])
    return {
        "directed": 2 * float(linked.mean()),
        "share": 100 * float(linked.sum() / every.sum()),
        "without": 100 * float((linked == 0).mean()),
    }


def initial_accuracy(trained: Trained) -> float:
    """The initial classifier's pair accuracy on validation, from which `noise_share = auto` is set."""
    stages = [stage for stage in trained.trail if stage["stage"].startswith("initial-all")]
    return float(stages[0]["valid"]) if stages else float("nan")


def _sheet(points: list[Point], runs: list[Measured], baseline: str) -> Sheet:
    cells = []
    title = load_row(baseline).about.title
    figures: dict[str, Any] = {}
    for point in points:
        dataset, linked, lead, accuracy = point.dataset, point.linked, point.lead, point.accuracy
        published = dataset.preset.published
        paper, gain = printed("density", published), _paper_gain(published)
        automatic = round((1 - accuracy / 100) * 20) / 20 if accuracy == accuracy else None
        cells.append(
            (
                dataset.preset.title + point.mark,
                f"{paper[0]:.2f}" if paper else "–",
                f"{gain:+.2f}" if gain is not None else "–",
                f"{linked['directed']:.2f}",
                f"{linked['share']:.1f} %",
                f"{linked['without']:.1f} %",
                f"{lead.difference:+.2f} [{lead.lower:+.2f}, {lead.upper:+.2f}]",
                f"{accuracy:.2f}",
                "–" if automatic is None else f"{100 * automatic:.0f} %",
                f"{100 * dataset.preset.settings.noise_share:.0f} %",
            )
        )
        figures[dataset.name] = {
            **linked,
            "gain": lead.difference,
            "initial_accuracy": accuracy,
            "auto_noise_share": automatic,
        }
    head = (
        "data set",
        *(f"paper, its own data: {what}" for what in ("links", "Δτ")),
        "links",
        "linked pairs",
        "no link",
    )
    theirs = {
        label: (density[0], gain)
        for name, label in PAPER_SETS.items()
        if (density := printed("density", name)) and (gain := _paper_gain(name)) is not None
    }
    ours = {point.dataset.preset.title: (point.linked["directed"], _band(point.lead)) for point in points}
    figure = scatter(ours, theirs, x="links of a document, both directions", y=f"Δτ of IRSE-GRN over {title}")
    return Sheet(
        dataset=ALL,
        subtitle="; ".join(point.dataset.described for point in points),
        tables=(
            Table(
                "Links of the test documents and the gain in τ",
                (*head, "Δτ", "initial", "auto η", "paper: η"),
                tuple(cells),
                cut_note(one.trained for one in runs),
            ),
        ),
        plots=(Plot("gain", "More links, more gain?", figure),),
        notes=(
            "Links are counted in both directions, as the paper's 16.60 on NIPS must have been.",
            "auto η: the share of wrong weights that noise_share = auto sets, the initial classifier's error on "
            "validation to a multiple of 5 %.",
            f"Δτ: IRSE-GRN against {title} on the same documents, 95 % of a paired bootstrap; the paper's against "
            f"{load_row(PAPER_BASELINE).about.title}.",
            "initial: pair accuracy of the initial classifier on validation.",
        ),
        figures=figures,
        runs=tuple(run_of(one.trained) for one in runs),
    )


def _band(lead: Comparison) -> Band:
    return Band(lead.difference, lead.lower, lead.upper, lead.level, lead.draws)


def _paper_gain(name: str) -> float | None:
    refined, plain = printed(name, REFINED), printed(name, PAPER_BASELINE)
    return refined[1] - plain[1] if refined and plain else None
