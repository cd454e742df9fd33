"""A tiny training in a process of its own, which kills itself at a given event."""

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tests.fixtures.documents import random_documents, stories
from tests.fixtures.systems import tiny_config
from unshuffle.errors import UnshuffleError
from unshuffle.training.config import TrainingConfig
from unshuffle.training.corpus import Splits
from unshuffle.training.run import TrainingJob, train_system

TRAINING = TrainingConfig(
    batch=4,
    epochs=3,
    classifier_epochs=2,
    validation_beam=2,
    checkpoint_minutes=1e-9,  # after every step
)


def tiny_job(folder: Path, out: Path, *, system: str = "irse-grn", resume: bool = False, seed: int = 1) -> TrainingJob:
    """Few documents, small networks, all stages; word vectors lie in `folder`."""
    return TrainingJob(
        name=system,
        config=tiny_config(system, folder),
        training=TRAINING,
        data=Splits(tuple(stories()), tuple(random_documents(3, sentences=4, seed=5)), ()),
        out=out,
        seed=seed,
        resume=resume,
    )


def train_and_die(folder: Path, out: Path, system: str, after: int | None, most_bytes: int | None) -> None:
    """Goes on with the training; is gone after so many events, or finds the disk full; else finishes.

    Events are steps, and every file just before and just after it has become durable and visible.
    """
    torch.set_num_threads(1)
    left = [after]

    def event(*anything: object) -> None:
        if left[0] is not None:
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        def inner(*arguments: Any) -> Any:
            event()
            result = call(*arguments)
            event()
            return result

        return inner

    os.fsync = watched(os.fsync)
    Path.replace = watched(Path.replace)  # type: ignore[method-assign]
    if most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    try:
        train_system(tiny_job(folder, out, system=system, resume=True), event)
    except UnshuffleError as error:
        Path(folder / "said").write_text(str(error))
