"""Time-boxes of the stages of a training."""

from __future__ import annotations

import math
from dataclasses import replace

from unshuffle.system.config import SystemConfig
from unshuffle.training.config import TrainingConfig

SHORTEST = 0.02
"""Minutes; a box of 0 would mean no box."""


def boxed(training: TrainingConfig, system: SystemConfig, minutes: float) -> TrainingConfig:
    """The same training, its ordering model held to one box of minutes, its classifiers together to another.

    So ordering models are trained alike, whether classifiers come before them or not; 0 leaves it as it is.
    """
    if not minutes:
        return training
    stages = classifier_stages(training, system)
    return replace(
        training,
        minutes=min(training.minutes or math.inf, max(minutes, SHORTEST)),
        classifier_minutes=max(minutes / stages, SHORTEST) if stages else 0.0,
    )


def classifier_stages(training: TrainingConfig, system: SystemConfig) -> int:
    """How many trainings of a classifier come before the ordering model's."""
    refiner = system.refiner
    if refiner is None or refiner.encoder == "shared":
        return 0
    fits = training.folds + 1 if training.folds > 1 else 1
    return fits * (int(refiner.initial) + int(refiner.rounds != 0))
