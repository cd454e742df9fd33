"""The time an experiment may take."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from unshuffle.system.config import SystemConfig
from unshuffle.training.config import TrainingConfig

FOR_TRAINING = 0.85
"""Share of the time that goes to training; the rest is for what is measured afterwards."""
SHORTEST = 0.02
"""Minutes; a box of 0 would mean no box."""


class Clock:
    """Deals the minutes that are left out to what is left to be trained."""

    def __init__(self, minutes: float = 0.0) -> None:
        self.minutes = minutes
        self._started = time.monotonic()

    @property
    def spent(self) -> float:
        """Minutes since the start."""
        return (time.monotonic() - self._started) / 60

    @property
    def over(self) -> bool:
        """Whether there is no time left."""
        return bool(self.minutes) and self.spent >= self.minutes

    def share(self, boxes: int) -> float:
        """Minutes for the next of so many boxes of equal length; 0 without a limit."""
        if not self.minutes:
            return 0.0
        return max(FOR_TRAINING * (self.minutes - self.spent) / max(boxes, 1), SHORTEST)


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
