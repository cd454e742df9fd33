"""Tables about the model inside the package: what it reaches, what it was chosen from, what fine-tuning adds."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from unshuffle_research import RESULTS
from unshuffle_research.experiments.sheet import spread
from unshuffle_research.tables.measured import table

MEASURES = ("tau", "pmr", "acc_micro", "acc_macro", "head", "tail")
RIVALS = ("random", "input", "nearest chain")


def runs(folder: Path) -> list[dict[str, Any]]:
    """All runs of a folder, by data set and seed."""
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    return sorted((run for run in found if "test" in run), key=lambda run: (run["dataset"], run["seed"]))


def shipped() -> str:
    """The shipped model on each kind of text, beside orders that need no training."""
    rows = []
    for run in runs(RESULTS / "default"):
        test = run["test"]
        kind = run["dataset"] + (" (windows of 5)" if run.get("windows_of") else "")
        error = f"{run['calibration_error']:.3f}" if "calibration_error" in run else "–"
        rivals = " / ".join(f"{run['baselines'][name]['tau']:.1f}" for name in RIVALS)
        figures = [f"{test[name]:.2f}" for name in MEASURES]
        rows.append([kind, run["split"], str(test["documents"]), *figures, error, rivals])
    head = ["text", "split", "documents", "τ", "PMR", "Acc micro", "Acc macro", "head", "tail", "calibration error"]
    return table([*head, "τ of a random order / the input's / nearest vectors"], rows)


def shipped_short() -> str:
    """τ and PMR of the shipped model on each kind of text."""
    rows = [
        [run["dataset"], str(run["test"]["documents"]), f"{run['test']['tau']:.2f}", f"{run['test']['pmr']:.2f}"]
        for run in runs(RESULTS / "default")
    ]
    return table(["text", "documents", "τ", "PMR"], rows)


def by_kind(folders: dict[str, Path]) -> tuple[list[str], dict[str, list[str]]]:
    """The kinds of text, and by label: τ on each, their mean where all were scored, and documents per second."""
    found = {label: {run["dataset"]: run for run in runs(folder)} for label, folder in folders.items()}
    kinds = sorted({kind for one in found.values() for kind in one})
    rows = {}
    for label, one in found.items():
        taus = [one[kind]["test"]["tau"] if kind in one else None for kind in kinds]
        mean = statistics.mean(tau for tau in taus if tau is not None) if None not in taus else None
        speed = statistics.harmonic_mean([run["documents_per_second"] for run in one.values()])
        rows[label] = [*("–" if tau is None else f"{tau:.1f}" for tau in (*taus, mean)), f"{speed:.1f}"]
    return kinds, rows


def candidates() -> str:
    """What the shipped model was chosen from."""
    return trainings(RESULTS / "candidates")


def growth() -> str:
    """What further training brings the shipped model, as it is and with twice the layers."""
    return trainings(RESULTS / "growth")


def trainings(folder: Path) -> str:
    """τ of each trained model on the validation texts, how fast it orders, and what it was trained on."""
    files = sorted(folder.glob("*/training-*.json"))
    trained = {one["title"]: one | {"file": file} for file in files if (one := json.loads(file.read_text("utf-8")))}
    kinds, rows = by_kind({title: one["file"].parent for title, one in trained.items()})
    ordered = sorted(rows.items(), key=lambda row: float(row[1][len(kinds)].replace("–", "-inf")))
    head = ["candidate", *kinds, "mean τ", "documents/s", "training documents", "minutes"]
    return table(
        head,
        [
            [title, *row, f"{trained[title]['documents']:,}", f"{trained[title]['minutes']:.0f}"]
            for title, row in ordered
        ],
    )


def fine_tuned() -> str:
    """The shipped model before and after some epochs on another data set's training documents, and one from scratch."""
    tuned = runs(RESULTS / "fine-tuned")
    rows = [
        ["the same system from all-MiniLM", *_trained(run), *_figures([run["test"]])]
        for run in runs(RESULTS / "scratch")
    ]
    rows.append(["the shipped model as it is", "–", "–", *_figures([tuned[0]["notes"]["before"]])])
    rows += [["the shipped model, fine-tuned", *_trained(run), *_figures([run["test"]])] for run in tuned]
    rows.append(["the shipped model, fine-tuned", "mean", "", *_figures([run["test"] for run in tuned])])
    return table(["model", "seed", "epochs", "τ", "PMR", "Acc micro", "Acc macro", "head", "tail"], rows)


def _trained(run: dict[str, Any]) -> list[str]:
    return [str(run["seed"]), str(run["config"]["training"]["epochs"])]


def _figures(tests: list[dict[str, Any]]) -> list[str]:
    """Each measure, with the standard deviation over seeds where there are several."""
    return [spread([test[name] for test in tests]) for name in MEASURES]
