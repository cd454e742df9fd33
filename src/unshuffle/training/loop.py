"""The loop that every stage runs: a generator; the caller logs and draws the bar."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from unshuffle.decode.contracts import Gold
from unshuffle.errors import ConfigError, DataError
from unshuffle.graph.batch import Batch, collate
from unshuffle.graph.prepare import Item
from unshuffle.machine import Precision, computing
from unshuffle.seeds import derived
from unshuffle.training.checkpoint import Checkpoint, Position, load_trained, trained_state
from unshuffle.training.config import TrainingConfig
from unshuffle.training.corpus import epoch_batches
from unshuffle.training.optimizers import build_optimizer, rate
from unshuffle.training.processes import agreed, leads, rank, ranks, summed

if TYPE_CHECKING:
    from lightning_fabric import Fabric

USELESS = 1e6
"""A loss from which no training comes back."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Documents of one step, each freshly shuffled, with the true order in terms of the shuffled input."""

    items: tuple[Item, ...]
    orders: tuple[tuple[int, ...], ...]
    seed: int
    whole: Drawn | None = None
    """What all processes together take at this step; None where there is one process."""
    first: int = 0
    """Number in the whole of the first document here."""
    ranks: int = 1
    idle: bool = False
    """Whether there were too few documents: the one here goes along without weight."""

    def collated(self, device: torch.device) -> tuple[Batch, Gold]:
        """What the model sees of the documents, and their true orders, on its device."""
        return collate(self.items).to(device), Gold.of(self.orders).to(device)

    def share(self, rank: int, ranks: int) -> Drawn:
        """The documents of one process; all shares together are the whole."""
        if ranks == 1:
            return self
        start, end = (len(self.items) * number // ranks for number in (rank, rank + 1))
        idle = start == end
        if idle:
            start, end = 0, 1
        return Drawn(self.items[start:end], self.orders[start:end], self.seed, self, start, ranks, idle)

    def weighed(self, mean: Tensor, here: int, everywhere: int) -> Tensor:
        """A mean over what is here, so that the processes' gradients average to that of the mean over everything."""
        if self.whole is None:
            return mean
        return mean * (0.0 if self.idle else self.ranks * here / max(everywhere, 1))


class Stage(Protocol):
    """What one stage trains: a module that gives the loss of a batch, and a validation score."""

    name: str
    module: nn.Module
    items: Sequence[Item]

    def score(self) -> float:
        """Validation score, the higher the better."""
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the loop is; given after every step, and with a score after every epoch."""

    stage: str
    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    """Mean over the epoch so far."""
    score: float | None = None
    best: float | None = None


def draw(items: Sequence[Item], pick: Sequence[int], seed: int) -> Drawn:
    """Shuffles each picked document; documents of one sentence teach nothing and are left out beforehand."""
    rng = np.random.default_rng(seed)
    shuffled, orders = [], []
    for number in pick:
        permutation = rng.permutation(items[number].graph.sentences)
        shuffled.append(items[number].permuted(permutation.tolist()))
        orders.append(tuple(np.argsort(permutation).tolist()))
    return Drawn(tuple(shuffled), tuple(orders), derived(seed, "noise"))


def train(
    fabric: Fabric,
    stage: Stage,
    config: TrainingConfig,
    *,
    seed: int,
    checkpoint: Checkpoint,
    epochs: int,
    patience: int,
    minutes: float = 0.0,
    precision: Precision = "32",
) -> Iterator[Progress]:
    """Trains until `patience` epochs bring nothing better; leaves the best epoch's weights in the module."""
    teach = _teaching(stage)
    steps = -(-len(teach) // config.batch)
    optimizer = build_optimizer(stage.module, config)
    rates = [group["lr"] for group in optimizer.param_groups]
    found = checkpoint.load(stage.module, optimizer)
    position, best = found if found else (Position(), {})
    if position.finished:
        load_trained(stage.module, best)
        return
    module, optimizer = fabric.setup(stage.module, optimizer)
    saved = started = time.monotonic()
    spent = position.minutes
    while not _done(position, epochs, patience, minutes):
        epoch = position.epoch
        batches = epoch_batches(stage.items, teach, config.batch, derived(seed, stage.name, "order", epoch))
        module.train()
        for step in range(position.step, steps):
            drawn_seed = derived(seed, stage.name, epoch, step)
            whole = draw(stage.items, batches[step], drawn_seed)
            drawn = whole.share(rank(), ranks())
            spent_share = position.minutes / minutes if minutes else 0.0
            share = rate(config, max(epoch * steps + step, int(spent_share * epochs * steps)), epochs * steps)
            for group, full in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = full * share
            # Dropout: a resumed run draws what an unbroken one would have drawn, and no process what another draws.
            torch.manual_seed(drawn_seed if leads() else derived(drawn_seed, "rank", rank()))
            optimizer.zero_grad()
            batch, gold = drawn.collated(fabric.device)
            with computing(fabric.device, precision):
                loss: Tensor = module(batch, gold, drawn)
            mean_loss = summed([loss.item()])[0] / ranks()
            _check_loss(mean_loss, stage.name, epoch, step)
            fabric.backward(loss)
            if config.clip:
                fabric.clip_gradients(module, optimizer, max_norm=config.clip)
            optimizer.step()
            now = time.monotonic()
            position = replace(
                position,
                step=step + 1,
                loss=position.loss + mean_loss,
                minutes=agreed(spent + (now - started) / 60),
            )
            yield Progress(stage.name, epoch, epochs, step + 1, steps, position.loss / (step + 1))
            if leads() and now - saved > config.checkpoint_minutes * 60:
                checkpoint.save(position, stage.module, optimizer, best)
                saved = time.monotonic()
            if minutes and position.minutes >= minutes:
                break
        module.eval()
        _check_weights(stage, epoch)
        with torch.inference_mode():
            score = stage.score()
        mean = position.loss / max(position.step, 1)
        position = replace(position, epoch=epoch + 1, step=0, loss=0.0, scores=(*position.scores, score))
        position = replace(position, minutes=agreed(spent + (time.monotonic() - started) / 60))
        if position.best_epoch == epoch:
            best = {name: value.clone() for name, value in trained_state(stage.module).items()}
        if leads():
            checkpoint.save(position, stage.module, optimizer, best)
        saved = time.monotonic()
        yield Progress(stage.name, epoch, epochs, steps, steps, mean, score, max(position.scores))
    load_trained(stage.module, best)
    cut = bool(minutes) and not _done(position, epochs, patience, 0)
    if leads():
        checkpoint.save(replace(position, finished=True, cut=cut), stage.module, optimizer, best)


def _teaching(stage: Stage) -> list[int]:
    """Numbers of the documents that teach an order."""
    teach = [number for number, item in enumerate(stage.items) if item.graph.sentences > 1]
    if not teach:
        raise DataError(f"{stage.name}: no document to learn from has two sentences. Give more documents.")
    return teach


def _check_loss(loss: float, stage: str, epoch: int, step: int) -> None:
    if not abs(loss) < USELESS:  # also where it is not a number
        raise _diverged(stage, epoch, f"the loss is {loss:.3g} at step {step + 1}")


def _check_weights(stage: Stage, epoch: int) -> None:
    if not all(bool(value.isfinite().all()) for value in stage.module.parameters()):
        raise _diverged(stage.name, epoch, "some weights are not numbers at the end")


def _diverged(stage: str, epoch: int, what: str) -> ConfigError:
    return ConfigError(
        f"{stage}: {what} of epoch {epoch + 1}. Lower training.learning_rate or set training.clip, and choose another "
        "--out; a model that was there before is unharmed."
    )


def _done(position: Position, epochs: int, patience: int, minutes: float) -> bool:
    if position.step:
        return False
    waited = position.epoch - 1 - position.best_epoch
    return (
        position.epoch >= epochs
        or (position.epoch > 0 and waited >= patience)
        or bool(minutes and position.minutes >= minutes)
    )
