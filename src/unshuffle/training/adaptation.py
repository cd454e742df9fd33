"""What fine-tuning is asked for, how each kind of system is fine-tuned, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from unshuffle.evaluation.predict import Prediction
from unshuffle.evaluation.results import plain
from unshuffle.machine import Precision
from unshuffle.metrics.bootstrap import Comparison
from unshuffle.metrics.summary import Spread
from unshuffle.parts.registry import validated
from unshuffle.system.config import SystemConfig
from unshuffle.system.rows import apply_changes
from unshuffle.text.document import Document
from unshuffle.training.config import TrainingConfig, classifier_kinds, with_time_limit

USUAL = TrainingConfig(batch=16, epochs=15, patience=3, measure="tau")
"""The optimiser of training; sentence encoders say what suits them better."""
SHUFFLES = 3
"""How often each document that is reported on is shuffled and ordered."""


@dataclass(frozen=True, kw_only=True)
class FineTuning:
    """What to adapt, to what, and where to put it."""

    source: str
    documents: tuple[Document, ...]
    """In their true order."""
    valid: tuple[Document, ...] | None = None
    """To choose the best epoch and to report on; None holds some of the documents out."""
    test: tuple[Document, ...] = ()
    """To report on and nothing else."""
    results: Path | None = None
    """Folder for the test figures, with the orders beside them."""
    dataset: str = ""
    """What the results call the documents."""
    out: Path
    changes: tuple[str, ...] = ()
    """To the settings of training that suit the system, such as `epochs=5`."""
    minutes: float = 10.0
    refiner: bool = False
    """Whether a refiner with encoders of its own is adapted too; one that shares the encoder always is."""
    parser: str | None = None
    seed: int = 1
    resume: bool = False
    device: str = "cpu"
    precision: Precision | Literal["auto"] = "auto"


@dataclass(frozen=True)
class Tested:
    """Test figures of the old model and of the new one, and the new one's orders."""

    before: Spread
    after: Spread
    predictions: tuple[Prediction, ...]
    gains: Mapping[str, Comparison] = field(default_factory=dict)


@dataclass(frozen=True)
class FineTuned:
    """Figures on the held-out documents, mean and spread over shuffles."""

    before: Spread
    after: Spread
    documents: int
    held_out: int
    improved: bool
    """Whether the new weights were kept; otherwise the folder holds the old ones."""
    test: Tested | None = None
    """On documents that had no part in it, where some were given."""
    gains: Mapping[str, Comparison] = field(default_factory=dict)
    """By measure, with an interval; none where too few documents are held out."""

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "before": plain(self.before),
            "after": plain(self.after),
            "gain": _written(self.gains),
            "documents": self.documents,
            "held_out": self.held_out,
            "improved": self.improved,
            **({"test": _tested(self.test)} if self.test else {}),
        }


def _tested(test: Tested) -> dict[str, Any]:
    return {"before": plain(test.before), "after": plain(test.after), "gain": _written(test.gains)}


def _written(gains: Mapping[str, Comparison]) -> dict[str, list[float]]:
    """The gain and the ends of its 95% interval."""
    return {
        name: [round(number, 3) for number in (gain.difference, gain.lower, gain.upper)] for name, gain in gains.items()
    }


def settings(job: FineTuning, config: SystemConfig) -> TrainingConfig:
    """How a system is fine-tuned: what suits it, the user's changes, and the time limit."""
    options = apply_changes(asdict(USUAL) | config.sentence_encoder.fine_tuning(), job.changes)
    training: TrainingConfig = validated("training", TrainingConfig, options)
    limits = 1 + len(classifier_kinds(config)) * job.refiner
    return with_time_limit(training, config, job.minutes / limits)


def card(job: FineTuning, source: str, result: FineTuned) -> str:
    """What the new model's folder says about it; `source` is the name of the model it was made from."""
    kept = "" if result.improved else "\nThe new weights were no better, so these are the old ones.\n"
    documents = f"{result.documents:,} documents, with {result.held_out:,} held out to choose the best epoch by"
    rows = [("held out", result.held_out, result.before, result.after)]
    if result.test is not None:
        rows.append(("test", result.test.after.mean.documents, result.test.before, result.test.after))
    table = "\n".join(
        f"| {name} | {count:,} | {before.mean.tau:.2f} | {after.mean.tau:.2f} | {before.mean.pmr:.2f} "
        f"| {after.mean.pmr:.2f} |"
        for name, count, before, after in rows
    )
    return (
        f"# {job.out.resolve().name}\n\n"
        f"The model `{source}`, fine-tuned with `unshuffle fine-tune` on {documents} (seed {job.seed}).\n{kept}\n"
        "## Figures\n\n"
        f"Means over {SHUFFLES} shuffles of each document, before and after the fine-tuning.\n\n"
        "| documents | number | tau before | tau after | PMR before | PMR after |\n|---|---|---|---|---|---|\n"
        f"{table}\n\n"
        "The documents held out chose the epoch that was kept, so their figures flatter the model a little.\n\n"
        "## Licence\n\n"
        f"The licence of the model it came from, `{source}`, applies; so may that of the documents.\n"
    )
