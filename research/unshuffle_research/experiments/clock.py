"""The time an experiment may take."""

from __future__ import annotations

import time

from unshuffle.training.config import SHORTEST

FOR_TRAINING = 0.85
"""Share of the time that goes to training; the rest is for what is measured afterwards."""


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

    def share(self, trainings: int) -> float:
        """Minutes for the next of so many trainings of equal length; 0 without a limit."""
        if not self.minutes:
            return 0.0
        return max(FOR_TRAINING * (self.minutes - self.spent) / max(trainings, 1), SHORTEST)
