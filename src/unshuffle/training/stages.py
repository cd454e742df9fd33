"""Initial classifier, iterative classifier, ordering model: one run, each stage kept on disk once it is done."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unshuffle.graph.prepare import Item
from unshuffle.machine import Precision
from unshuffle.refine.iterative import IterativeConfig, Refiner
from unshuffle.seeds import derived
from unshuffle.storage.files import read_json
from unshuffle.system.config import SystemConfig
from unshuffle.system.network import Network
from unshuffle.training.checkpoint import Checkpoint
from unshuffle.training.classifiers import InitialStage, IterativeStage, tune, with_weights
from unshuffle.training.config import TrainingConfig
from unshuffle.training.loop import Progress, Stage, train
from unshuffle.training.ordering import OrderingStage

if TYPE_CHECKING:
    from lightning_fabric import Fabric

NOT_DECIDING = {"minutes", "classifier_minutes", "checkpoint_minutes"}
"""Options that no stage is told apart by: a finished stage is finished, however long it was allowed to take."""
ORDERING_ONLY = {"epochs", "patience", "measure", "validation_beam", "folds"}
"""Options that no classifier reads; the fold that it was trained on is in its name."""
ITERATIVE_READS = {"known_weight", "mask_share", "initial", "unsure_from", "unsure_to", "settled"}
"""Options of the refiner that decide the iterative classifier; it is chosen by what it does when it may go on for as
many rounds as it likes, so that one serves every limit of rounds."""


@dataclass(frozen=True)
class Run:
    """Everything that the stages of one training share."""

    fabric: Fabric
    config: SystemConfig
    training: TrainingConfig
    seed: int
    data_hash: str
    folder: Path
    """Where stages keep their checkpoints; runs that share it share what is equal in them."""
    precision: Precision = "32"
    used: list[Path] = field(default_factory=list)
    """The folders of the stages that this training has gone through."""

    def settings(self) -> dict[str, Any]:
        """All that decides what this training comes to; a training that was cut off goes on with the same."""
        return {
            "system": self.config.with_former_names(),
            "training": _without(asdict(self.training), NOT_DECIDING),
            "seed": self.seed,
            "data": self.data_hash,
            "precision": self.precision,
        }

    def trail(self) -> list[dict[str, Any]]:
        """What each stage came to, those that were taken from an earlier training included."""
        rows = []
        for folder in self.used:
            saved = read_json(folder / "progress.json")
            best = max(saved["scores"], default=None)
            rows.append(
                {
                    "stage": folder.name,
                    "epochs": saved["epoch"],
                    "valid": best,
                    "minutes": round(saved["minutes"], 3),
                    "cut": saved.get("cut", False),
                }
            )
        return rows

    def stage(
        self, stage: Stage, recipe: object, *, epochs: int, patience: int, minutes: float = 0.0
    ) -> Iterator[Progress]:
        """Trains a stage, or takes it from where it was left; `recipe` is all that decides its result."""
        deciding = [recipe, self.seed, self.data_hash, stage.name]
        if self.precision != "32":  # so that stages from before there was a choice are found again
            deciding.append(self.precision)
        plain = json.dumps(deciding, sort_keys=True, default=str)
        fingerprint = hashlib.sha256(plain.encode()).hexdigest()[:16]
        checkpoint = Checkpoint(self.folder / f"{stage.name}-{fingerprint}", fingerprint)
        if checkpoint.folder not in self.used:
            self.used.append(checkpoint.folder)
        yield from train(
            self.fabric,
            stage,
            self.training,
            seed=self.seed,
            checkpoint=checkpoint,
            epochs=epochs,
            patience=patience,
            minutes=minutes,
            precision=self.precision,
        )


def train_stages(run: Run, network: Network, items: Sequence[Item], valid: Sequence[Item]) -> Iterator[Progress]:
    """All stages in turn; the network is trained in place."""
    refiner = network.to(run.fabric.device).refiner
    recipe = {"system": run.config.with_former_names(), "training": _without(asdict(run.training), NOT_DECIDING)}
    if refiner is not None and refiner.config.encoder == "own":
        items = yield from _cross_fitted(run, refiner, items, valid)
        yield from _classifiers(run, refiner, items, valid, fold="all")
        valid = with_weights(refiner, valid, run.seed)
    joint = refiner is not None and refiner.config.encoder == "shared"
    seed = derived(run.seed, "valid") % 2**31
    stage = OrderingStage(
        "ordering",
        network,
        items,
        valid,
        seed,
        beam=run.training.validation_beam,
        measure=run.training.measure,
        joint=joint,
        judged=run.config.judged,
    )
    yield from run.stage(
        stage,
        recipe,
        epochs=run.training.epochs,
        patience=run.training.patience,
        minutes=run.training.minutes,
    )


def _cross_fitted(
    run: Run, refiner: Refiner, items: Sequence[Item], valid: Sequence[Item]
) -> Generator[Progress, None, list[Item]]:
    """Gives each document link weights from classifiers that were trained without it."""
    folds = run.training.folds
    if folds == 1:
        yield from _classifiers(run, refiner, items, valid, fold="all")
        return with_weights(refiner, items, run.seed)
    fold_of = np.random.default_rng(derived(run.seed, "folds")).permutation(len(items)) % folds
    weighted: dict[int, Item] = {}
    for fold in range(folds):
        helper = copy.deepcopy(refiner)
        inside = [number for number in range(len(items)) if fold_of[number] != fold]
        outside = [number for number in range(len(items)) if fold_of[number] == fold]
        teach = [items[number] for number in inside]
        yield from _classifiers(run, helper, teach, valid, fold=f"{fold}of{folds}", part=len(inside) / len(items))
        fitted = with_weights(helper, [items[number] for number in outside], run.seed)
        weighted.update(zip(outside, fitted, strict=True))
    return [weighted[number] for number in range(len(items))]


def _classifiers(
    run: Run, refiner: Refiner, items: Sequence[Item], valid: Sequence[Item], *, fold: str, part: float = 1.0
) -> Iterator[Progress]:
    """Both classifiers of one refiner, the second scored with the first before it; `part` of all documents is here."""
    # Weights never reach the classifiers through the graph: they are what the classifiers are for.
    items = [replace(item, graph=replace(item.graph, weights=None)) for item in items]
    training, config = run.training, refiner.config
    seed = derived(run.seed, "valid") % 2**31
    train_classifier = partial(
        run.stage,
        epochs=training.classifier_epochs,
        patience=training.classifier_patience,
        minutes=training.classifier_minutes * part,
    )
    common = _classifier_recipe(run, config)
    accuracy: float | None = None
    if refiner.initial is not None:
        first = InitialStage(f"initial-{fold}", refiner, items, valid, seed)
        yield from train_classifier(first, common)
        with torch.inference_mode():
            refiner.eval()
            accuracy = first.score()
    if refiner.iterative is not None:
        share = _noise_share(config.noise_share, accuracy)
        second = IterativeStage(f"iterative-{fold}", refiner, items, valid, seed, share)
        read = {name: value for name, value in asdict(config).items() if name in ITERATIVE_READS}
        if config.learns_from == "predictions":
            assert refiner.initial is not None
            refiner.iterative.load_state_dict(refiner.initial.state_dict())
            read["lessons"] = config.learns_from  # its former name, see `with_former_names`
        yield from train_classifier(second, [common, read, share])
    refiner.eval()
    if config.tuned:
        with torch.inference_mode():
            tune(refiner, valid, derived(run.seed, "tuned") % 2**31)


def _classifier_recipe(run: Run, config: IterativeConfig) -> list[object]:
    """All that decides a classifier, and nothing of the ordering model."""
    system = run.config.with_former_names()
    graph = system["graph"]
    if not config.grn.relations:  # then the classifiers never look at relations between entities
        graph = {name: value for name, value in graph.items() if not name.startswith("relation")}
    training = _without(asdict(run.training), NOT_DECIDING | ORDERING_ONLY)
    head = [config.head_width, config.head_dropout]
    return [system["sentence_encoder"], graph, system["tokens"], asdict(config.grn), head, training]


def _noise_share(share: float | str, accuracy: float | None) -> float:
    """`auto` is the paper's way: the initial classifier's error on validation, to a multiple of 5 %."""
    if share != "auto":
        return float(share)
    return 0.2 if accuracy is None else round((1 - accuracy / 100) * 20) / 20


def _without(options: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}
