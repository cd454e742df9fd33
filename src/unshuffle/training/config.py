"""How a system is trained, and for how long; the defaults are the paper's (Lai et al., 5.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge, Gt, Le

if TYPE_CHECKING:
    from unshuffle.system.config import SystemConfig

SHORTEST = 0.02
"""Minutes; a limit of 0 would mean none."""


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Optimiser, patience and the like."""

    optimizer: Literal["adadelta", "adamw", "adam"] = "adadelta"
    learning_rate: Annotated[float, Gt(0)] = 1.0
    encoder_learning_rate: Annotated[float, Ge(0)] = 0.0
    """For a pretrained sentence encoder; 0 takes the common one."""
    weight_decay: Annotated[float, Ge(0)] = 1e-5
    rho: Annotated[float, Gt(0), Le(1)] = 0.95
    epsilon: Annotated[float, Gt(0)] = 1e-6
    warmup: Annotated[float, Ge(0), Le(1)] = 0.0
    """Share of all steps over which the learning rate rises; it then falls linearly. 0 keeps it constant."""
    clip: Annotated[float, Ge(0)] = 0.0
    """Largest norm of the gradient; 0 does not clip."""
    batch: Annotated[int, Ge(1)] = 16
    """Documents per step."""
    epochs: Annotated[int, Ge(1)] = 100
    classifier_epochs: Annotated[int, Ge(1)] = 15
    """The same for the refiner's classifiers."""
    patience: Annotated[int, Ge(1)] = 5
    """Stop after this many epochs without a better validation score."""
    classifier_patience: Annotated[int, Ge(1)] = 3
    """The same for the refiner's classifiers."""
    measure: Literal["acc_micro", "tau", "pmr"] = "acc_micro"
    """What chooses the best epoch of the ordering model on validation."""
    validation_beam: Annotated[int, Ge(1)] = 8
    folds: Annotated[int, Ge(1)] = 2
    """Cross-fitting: link weights of training documents come from classifiers that have not seen them; 1 for none."""
    minutes: Annotated[float, Ge(0)] = 0.0
    """Time limit of the ordering stage; 0 for none."""
    classifier_minutes: Annotated[float, Ge(0)] = 0.0
    """Time limit of a classifier that learns from all documents; one that learns from part of them has part of it."""
    checkpoint_minutes: Annotated[float, Gt(0)] = 5.0


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
