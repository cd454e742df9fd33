"""Test orders of a trained model, kept beside it, so that no experiment predicts twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshuffle.evaluation.predict import Prediction, figures, predict
from unshuffle.evaluation.results import command_line, commit, plain, read_predictions, versions, write_predictions
from unshuffle.metrics.summary import OrderPair, Tally
from unshuffle.storage.files import write_json
from unshuffle_research.experiments.kept import ORDERS
from unshuffle_research.experiments.models import Models, Trained

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """A model's orders of the test documents, each document as often as it was shuffled."""

    trained: Trained
    predictions: tuple[Prediction, ...]
    test: dict[str, Any]
    valid: dict[str, Any]
    beam: int

    def values(self, measure: str) -> Floats:
        """tau, pmr, head, tail or accuracy of each prediction, in percent."""
        rows = []
        for prediction in self.predictions:
            tally = Tally.of(OrderPair(prediction.order, tuple(range(len(prediction.order)))))
            of = {"tau": tally.tau, "pmr": tally.perfect, "head": tally.head, "tail": tally.tail}
            rows.append(100 * of.get(measure, tally.accuracy))
        return np.array(rows, np.float64)

    def by_document(self, measure: str) -> Floats:
        """The same for each document, the mean of its shuffles."""
        mean: Floats = self.values(measure).reshape(self.shuffles, -1).mean(0)  # predictions come shuffle by shuffle
        return mean

    @property
    def shuffles(self) -> int:
        """How often each document was shuffled."""
        return 1 + max(prediction.shuffle for prediction in self.predictions)

    @property
    def document_lengths(self) -> NDArray[np.int64]:
        """Sentences of each document."""
        documents = len(self.predictions) // self.shuffles
        return np.array([len(prediction.order) for prediction in self.predictions[:documents]], np.int64)

    def write(self, folder: Path, **more: Any) -> Path:
        """`<row>-<dataset>-<seed>.json` with all that is needed to believe it, and the orders beside it."""
        plan = self.trained.plan
        path = folder / f"{plan.row}-{plan.dataset.name}-{plan.seed}.json"
        write_predictions(path.with_suffix(ORDERS), self.predictions)
        write_json(path, about(self.trained) | {"valid": self.valid, "test": self.test, "beam": self.beam} | more)
        return path


def about(trained: Trained) -> dict[str, Any]:
    """What was run, on what, with which versions."""
    plan = trained.plan
    return {
        "system": plan.row,
        "title": plan.label,
        "dataset": plan.dataset.name,
        "comparable": plan.dataset.comparable,
        "documents": plan.dataset.sizes,
        "data_hash": plan.dataset.splits.hash,
        "seed": plan.seed,
        "precision": plan.precision,
        "command": command_line(),
        "commit": commit(),
        "trained": trained.made,
        "versions": versions(),
        "minutes": round(trained.minutes, 2),
        "cut_by_time": trained.cut,
        "stages": list(trained.trail),
        "parameters": trained.parameters,
        "config": {"system": plan.config.write(), "training": asdict(plan.training)},
    }


def measured(models: Models, trained: Trained, *, shuffles: int = 3, beam: int = 64, resume: bool = True) -> Measured:
    """Orders the test and validation documents, or reads the orders that lie beside the model or its results."""
    if kept := trained.kept:
        return Measured(trained, tuple(read_predictions(kept.orders)), kept.said["test"], kept.said["valid"], beam)
    orders = {}
    for split in ("test", "valid"):
        documents = models.parsed(trained.plan.dataset, split, trained.plan.config.parser)
        file = trained.folder / f"{split}-{shuffles}-{beam}{ORDERS}"
        if not (resume and file.is_file()):
            found = predict(trained.orderer, documents, shuffles=shuffles, seed=trained.plan.seed, beam=beam)
            write_predictions(file, found)
        orders[split] = tuple(read_predictions(file))
    test, valid = (plain(figures(orders[split])) for split in ("test", "valid"))
    return Measured(trained, orders["test"], test, valid, beam)


def by_row(measurements: Sequence[Measured]) -> dict[str, list[Measured]]:
    """The measurements of all seeds, by row, in the order in which rows were first seen."""
    rows: dict[str, list[Measured]] = {}
    for one in measurements:
        rows.setdefault(one.trained.plan.row, []).append(one)
    return rows
