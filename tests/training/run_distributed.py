"""A tiny training as one of several processes, in a process of its own, which kills itself after so many steps."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_config
from unshuffle.storage.files import write_tensors
from unshuffle.training.config import TrainingConfig
from unshuffle.training.corpus import Splits
from unshuffle.training.loop import Drawn, Progress
from unshuffle.training.optimizers import Adadelta
from unshuffle.training.run import TrainingJob, train_system

# Adadelta, because Adam would make steps of the full learning rate out of what is nothing but rounding.
TRAINING = TrainingConfig(
    batch=5,  # odd, so that shares differ in size
    epochs=2,
    classifier_epochs=1,
    folds=1,
    validation_beam=2,
    clip=1.0,
    checkpoint_minutes=1e-9,
)
DATA = Splits(
    tuple(random_documents(11, sentences=(2, 6), seed=3)), tuple(random_documents(70, sentences=3, seed=4)), ()
)


def calm(options: Any) -> Any:
    """Without dropout, of which each process draws its own: only then is the result that of one process."""
    return {
        name: calm(value) if isinstance(value, dict) else 0.0 if name.endswith("dropout") else value
        for name, value in options.items()
    }


def job(folder: Path, out: Path, system: str) -> TrainingJob:
    config = tiny_config(system, folder)
    config = type(config).read(calm(config.write()))
    return TrainingJob(name=system, config=config, training=TRAINING, data=DATA, out=out, resume=True)


def train_as_told(folder: Path, out: Path, system: str, steps: int | None, told: dict[str, str]) -> None:
    """Under the variables of torchrun; the leading process writes down what each step saw and what came of it."""
    os.environ |= told
    torch.set_num_threads(1)
    seen: list[list[str]] = []
    rows: list[list[Any]] = []
    gradients: dict[str, Tensor] = {}
    share, step = Drawn.share, Adadelta.step

    def watched_share(self: Drawn, rank: int, ranks: int) -> Drawn:
        seen.append([item.id for item in self.items])
        return share(self, rank, ranks)

    def watched_step(self: Adadelta, closure: Any = None) -> None:
        found = [
            each.grad.flatten() for group in self.param_groups for each in group["params"] if each.grad is not None
        ]
        gradients[f"{len(gradients):03d}"] = torch.cat(found).clone()
        step(self, closure)

    Drawn.share, Adadelta.step = watched_share, watched_step  # type: ignore[method-assign]

    def write() -> None:
        (out / "rows.json").write_text(json.dumps({"rows": rows, "seen": seen}))
        write_tensors(out / "gradients", gradients)

    def report(progress: Progress) -> None:
        rows.append([progress.stage, progress.epoch, progress.step, progress.loss, progress.score])
        if steps is not None and len(rows) > steps:
            write()
            os.kill(os.getpid(), signal.SIGKILL)

    train_system(job(folder, out, system), report)
    if told.get("RANK", "0") == "0":
        write()
