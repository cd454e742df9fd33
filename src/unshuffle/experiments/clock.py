"""The time an experiment may take."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from unshuffle.system.config import SystemConfig
from unshuffle.training.config import TrainingConfig

FOR_TRAINING = 0.85
"""Share of a training's time that goes to its stages; the rest is for what is measured afterwards."""
FOR_ORDERING = 0.5
"""Share of that for the ordering model, where there are classifiers to be trained before it."""
SHORTEST = 0.02
"""Minutes; a box of 0 would mean no box."""


class Clock:
    """Deals the minutes that are left out to the trainings that are left."""

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

    def share(self, trainings: int) -> float:
        """Minutes for the next of so many trainings; 0 without a limit."""
        if not self.minutes:
            return 0.0
        return max((self.minutes - self.spent) / max(trainings, 1), SHORTEST)


def boxed(training: TrainingConfig, system: SystemConfig, minutes: float) -> TrainingConfig:
    """The same training, its stages held to a number of minutes in all; 0 leaves it as it is."""
    if not minutes:
        return training
    stages = classifier_stages(training, system)
    box = minutes * FOR_TRAINING
    ordering = box * FOR_ORDERING if stages else box
    each = (box - ordering) / stages if stages else math.inf
    return replace(
        training,
        minutes=min(training.minutes or math.inf, max(ordering, SHORTEST)),
        classifier_minutes=max(each, SHORTEST) if stages else 0.0,
    )


def classifier_stages(training: TrainingConfig, system: SystemConfig) -> int:
    """How many trainings of a classifier come before the ordering model's."""
    refiner = system.refiner
    if refiner is None or refiner.encoder == "shared":
        return 0
    fits = training.folds + 1 if training.folds > 1 else 1
    return fits * (int(refiner.initial) + int(refiner.rounds != 0))
