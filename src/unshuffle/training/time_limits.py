"""Time limits of the stages of a training."""

from __future__ import annotations

import math
from dataclasses import replace

from unshuffle.system.config import SystemConfig
from unshuffle.training.config import TrainingConfig

SHORTEST = 0.02
"""Minutes; a limit of 0 would mean none."""


def with_time_limit(training: TrainingConfig, system: SystemConfig, minutes: float) -> TrainingConfig:
    """The same training with a limit in minutes for its ordering model and one for each kind of classifier.

    So ordering models are trained alike, whether classifiers come before them or not; 0 leaves it as it is.
    """
    if not minutes:
        return training
    return replace(
        training,
        minutes=min(training.minutes or math.inf, max(minutes, SHORTEST)),
        # Cross-fitting in k folds reads every document k - 1 times, the classifier of all documents once more.
        classifier_minutes=max(minutes / training.folds, SHORTEST) if classifier_kinds(system) else 0.0,
    )


def classifier_kinds(system: SystemConfig) -> tuple[str, ...]:
    """The kinds of classifier that have trainings of their own before the ordering model's."""
    refiner = system.refiner
    if refiner is None or refiner.encoder == "shared":
        return ()
    return ("initial",) * refiner.initial + ("iterative",) * (refiner.rounds != 0)
