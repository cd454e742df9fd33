"""Tables of what judges bring: by data set for one model, and pooled over a row's seeds."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unshuffle.metrics.bootstrap import Comparison, paired_bootstrap
from unshuffle.seeds import derived
from unshuffle_research import RESULTS
from unshuffle_research.experiments.asking import QUESTIONS, WAYS
from unshuffle_research.tables.measured import table

FOLDER = RESULTS / "judge"
HEAD = ["all pairs" if questions is None else f"{questions} questions" for questions in QUESTIONS]
Taus = Mapping[tuple[str, int | None], Sequence[float]]


def judged(model: str) -> str:
    """For each data set and judge of a model: tau at each number of questions, and the share of pairs asked."""
    found = []
    for dataset, runs in by_dataset(FOLDER / model).items():
        rows = []
        for run in runs:
            spoken = f"{run['judge']} ({run['right']:.0f}% of pairs right, {run['documents']} documents)"
            for way, title in WAYS.items():
                points = [point for point in run["points"] if point["way"] == way]
                if points:
                    rows.append([spoken, title, *(f"{one['tau']:.1f} ({one['share']:.0%})" for one in points)])
                    spoken = ""
        found += [f"*{dataset}*", "", table(["judge", "asked about", *HEAD], rows)]
        found += [f"![{dataset}: τ gained by questions](../research/results/judge/{model}/{dataset}.svg)", ""]
    return "\n".join(found) or "*Not run yet.*\n"


def judged_seeds(row: str) -> str:
    """The same for the trained models of a row, their seeds pooled, with what is gained over the model alone."""
    folders = sorted(folder for folder in FOLDER.glob(f"{row}-*") if folder.is_dir())
    runs: dict[tuple[str, str], list[tuple[dict[str, Any], Taus]]] = {}
    for folder in folders:
        for dataset, found in by_dataset(folder).items():
            for run in found:
                name = f"{dataset}-{run['judge'].replace(':', '-')}.taus.jsonl.gz"
                runs.setdefault((dataset, run["judge"]), []).append((run, read_taus(folder / name)))
    rows = []
    for (dataset, judge), seeds in sorted(runs.items()):
        for way in ("useful", "weights"):
            cells = []
            for questions in QUESTIONS:
                gain = pooled([taus for _, taus in seeds], way, questions)
                points = [_point(run, way, questions) for run, _ in seeds]
                tau, share = (np.mean([point[name] for point in points]) for name in ("tau", "share"))
                cells.append(f"{tau:.1f}" if questions == 0 else f"{tau:.1f} ({share:.0%}) {band(gain)}")
            rows.append([dataset, judge, WAYS[way], str(len(seeds)), *cells])
    if not rows:
        return "*Not run yet.*\n"
    plots = [
        f"![{dataset}: τ gained by questions, first seed](../research/results/judge/{folders[0].name}/{dataset}.svg)\n"
        for dataset in sorted({dataset for dataset, _ in runs})
    ]
    return "\n".join([table(["data", "judge", "asked about", "seeds", *HEAD], rows), *plots])


def judged_curve(row: str) -> str:
    """Tau of a row's models under link weights of every reliability, the mean of their seeds."""
    files = sorted(FOLDER.glob(f"{row}-*/*-curve.json"))
    curves = [json.loads(file.read_text(encoding="utf-8"))["tau_by_reliability"] for file in files]
    if not curves:
        return "*Not run yet.*\n"
    means = [f"{np.mean([curve[at] for curve in curves]):.1f}" for at in curves[0]]
    return table(["weights right with chance", *curves[0]], [[f"τ, {len(curves)} seeds", *means]])


def by_dataset(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Runs of one model, judges by how often they are right."""
    found: dict[str, list[dict[str, Any]]] = {}
    for file in sorted(folder.glob("*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        if "points" in run:
            found.setdefault(run["dataset"], []).append(run)
    return {name: sorted(runs, key=lambda run: -run["right"]) for name, runs in found.items()}


def read_taus(path: Path) -> Taus:
    """By way and number of questions, that of each document."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return {(row["way"], row["questions"]): row["tau"] for row in map(json.loads, lines)}


def pooled(seeds: Sequence[Taus], way: str, questions: int | None) -> Comparison:
    """What questions gain over none, each document's mean over the seeds, documents drawn again and again."""
    asked, alone = (np.mean([taus[way, count] for taus in seeds], axis=0) for count in (questions, 0))
    return paired_bootstrap(asked, alone, np.random.default_rng(derived(1, "judge")), draws=2000)


def band(gain: Comparison) -> str:
    """A gain with its 95 % interval."""
    return f"{gain.difference:+.1f} [{gain.lower:+.1f}, {gain.upper:+.1f}]"


def _point(run: Mapping[str, Any], way: str, questions: int | None) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(
        point for point in run["points"] if point["way"] == way and point["questions"] == questions
    )
    return found
