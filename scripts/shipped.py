"""Tables about the model inside the package: what it reaches, what it was chosen from, what fine-tuning adds."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from measured import table

RESULTS = Path(__file__).parent.parent / "results"
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


def candidates() -> str:
    """τ of each candidate on the validation texts, what it was trained on, and how fast it orders."""
    rows = []
    kinds: list[str] = []
    for folder in sorted(path for path in (RESULTS / "candidates").glob("*") if path.is_dir()):
        for file in sorted(folder.glob("training-*.json")):
            trained = json.loads(file.read_text(encoding="utf-8"))
            found = {run["dataset"]: run for run in runs(folder) if run["seed"] == trained["seed"]}
            kinds = kinds or list(found)
            speed = statistics.harmonic_mean([run["documents_per_second"] for run in found.values()])
            taus = [run["test"]["tau"] for run in found.values()]
            rows.append(
                (
                    statistics.mean(taus),
                    [
                        trained["title"],
                        *(f"{found[kind]['test']['tau']:.1f}" for kind in kinds),
                        f"{statistics.mean(taus):.1f}",
                        f"{speed:.1f}",
                        f"{trained['documents']:,}",
                        f"{trained['minutes']:.0f}",
                    ],
                )
            )
    head = ["candidate", *kinds, "mean", "documents/s", "training documents", "minutes"]
    return table(head, [row for _, row in sorted(rows, key=lambda row: row[0])])


def fine_tuned() -> str:
    """The shipped model after some epochs on another data set's training documents, by seed."""
    rows = []
    for run in runs(RESULTS / "fine-tuned"):
        before, after = run["notes"]["before"], run["test"]
        figures = [f"{before[name]:.2f} → {after[name]:.2f}" for name in MEASURES]
        rows.append([run["dataset"], str(run["seed"]), str(after["documents"]), *figures, f"{run['minutes']:.0f}"])
    return table(
        ["data set", "seed", "documents", "τ", "PMR", "Acc micro", "Acc macro", "head", "tail", "minutes"], rows
    )
