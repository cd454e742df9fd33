"""Adapting a model to the user's own documents, in minutes on a CPU."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unshuffle.encoders.sentence.pretrained import PretrainedConfig
from unshuffle.errors import ConfigError, DataError
from unshuffle.files import write_json
from unshuffle.graph.batch import Item
from unshuffle.metrics.summary import Spread
from unshuffle.registry import validated
from unshuffle.seeds import derived
from unshuffle.system.config import SystemConfig
from unshuffle.system.folder import Model, find_folder, save_model
from unshuffle.system.orderer import Orderer
from unshuffle.systems import apply_changes
from unshuffle.text.document import Document
from unshuffle.text.parse_cache import CachedParser
from unshuffle.training.config import TrainingConfig
from unshuffle.training.corpus import Splits
from unshuffle.training.evaluation import figures, predict
from unshuffle.training.link_weights import with_weights
from unshuffle.training.loop import Progress
from unshuffle.training.ordering import OrderingStage
from unshuffle.training.results import plain
from unshuffle.training.run import new_fabric
from unshuffle.training.stages import Run, train_stages

HELD_OUT = 10
"""One document of so many is held out where the user names none."""
FEWEST = 10
"""Documents of two sentences or more, below which there is nothing to learn from."""
SHUFFLES = 3

PRETRAINED = TrainingConfig(
    optimizer="adamw",
    learning_rate=2e-4,
    encoder_learning_rate=3e-5,
    weight_decay=0.01,
    warmup=0.1,
    clip=1.0,
    batch=8,
    epochs=3,
    patience=2,
    measure="tau",
)
"""For systems on a pretrained transformer: small steps, soon done."""
RECURRENT = TrainingConfig(batch=16, epochs=15, patience=3, measure="tau")
"""For all others: the optimiser that they were trained with."""


@dataclass(frozen=True, kw_only=True)
class FineTuning:
    """What to adapt, to what, and where to put it."""

    source: str
    documents: tuple[Document, ...]
    """In their true order."""
    valid: tuple[Document, ...] | None = None
    """To choose the best epoch and to report on; None holds some of the documents out."""
    out: Path
    changes: tuple[str, ...] = ()
    """To the settings of training that suit the system, such as `epochs=5`."""
    minutes: float = 10.0
    refiner: bool = False
    """Whether a refiner with encoders of its own is adapted too; one that shares the encoder always is."""
    parser: str | None = None
    seed: int = 1
    resume: bool = False


@dataclass(frozen=True)
class FineTuned:
    """Figures on the held-out documents, mean and spread over shuffles."""

    before: Spread
    after: Spread
    documents: int
    held_out: int
    improved: bool
    """Whether the new weights were kept; otherwise the folder holds the old ones."""

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "before": plain(self.before),
            "after": plain(self.after),
            "documents": self.documents,
            "held_out": self.held_out,
            "improved": self.improved,
        }


def fine_tuned(job: FineTuning, report: Callable[[Progress], None] = lambda progress: None) -> FineTuned:
    """Trains within the time given and saves the better of the old and the new model."""
    _check(job)
    orderer = Orderer.from_pretrained(job.source, parser=job.parser)
    model = orderer.model
    training = settings(job, model.config)
    train, valid = _parsed(job, orderer)
    before = figures(predict(orderer, valid, shuffles=SHUFFLES, seed=job.seed))
    old = {name: value.clone() for name, value in model.network.state_dict().items()}
    torch.manual_seed(derived(job.seed, "fine-tune") % 2**31)
    for progress in _trained(job, training, model, train, valid):
        report(progress)
    model.network.requires_grad_(True).eval()
    after = figures(predict(orderer, valid, shuffles=SHUFFLES, seed=job.seed))
    improved = after.mean.tau > before.mean.tau
    if not improved:
        model.network.load_state_dict(old)
    result = FineTuned(before, after, len(train), len(valid), improved)
    write_json(
        job.out / "fine-tune.json",
        result.to_json() | {"source": job.source, "training": asdict(training)},
    )
    save_model(replace(model, name=job.out.name, card=_card(model, result)), job.out)
    return result


def settings(job: FineTuning, config: SystemConfig) -> TrainingConfig:
    """How a system is fine-tuned: what suits it, the user's changes, and the time-box."""
    chosen = PRETRAINED if isinstance(config.sentence_encoder, PretrainedConfig) else RECURRENT
    options = apply_changes(asdict(chosen), job.changes)
    training: TrainingConfig = validated("training", TrainingConfig, options)
    return replace(training, minutes=job.minutes)


def _check(job: FineTuning) -> None:
    if (job.out / "config.json").exists():
        raise ConfigError(f"{job.out}: a model is there already. Choose another --out.")
    if job.out.resolve() == find_folder(job.source).resolve():
        raise ConfigError(f"{job.out}: this is the model to start from. Choose another --out.")
    stages = job.out / "stages"
    if stages.exists() and any(stages.iterdir()) and not job.resume:
        raise ConfigError(f"{job.out}: a training is there already. Say --resume to go on, or choose another --out.")
    teaching = sum(len(document.sentences) > 1 for document in job.documents)
    if teaching < FEWEST:
        raise DataError(
            f"fine-tune: {teaching} documents of two sentences or more are too few. Give at least {FEWEST}."
        )


def _parsed(job: FineTuning, orderer: Orderer) -> tuple[tuple[Document, ...], tuple[Document, ...]]:
    """Training and held-out documents with their mentions."""
    train, valid = job.documents, job.valid
    if valid is None:
        teaching = [number for number, document in enumerate(train) if len(document.sentences) > 1]
        drawn = np.random.default_rng(derived(job.seed, "held out")).permutation(teaching)
        held = set(drawn[: max(1, len(teaching) // HELD_OUT)].tolist())
        valid = tuple(document for number, document in enumerate(train) if number in held)
        train = tuple(document for number, document in enumerate(train) if number not in held)
    parser = CachedParser(orderer.parser, job.out / "parses")
    return tuple(parser.mentions(train)), tuple(parser.mentions(valid))


def _trained(
    job: FineTuning, training: TrainingConfig, model: Model, train: Sequence[Document], valid: Sequence[Document]
) -> Iterator[Progress]:
    """All stages where the refiner learns too; only the ordering model where it is fixed."""
    network = model.network
    items, held = list(model.preparer.items(train)), list(model.preparer.items(valid))
    weights = hashlib.sha256((find_folder(job.source) / "model.safetensors").read_bytes()).hexdigest()[:16]
    run = Run(
        fabric=new_fabric(job.out, job.seed),
        config=model.config,
        training=training,
        seed=job.seed,
        data_hash=Splits(tuple(train), tuple(valid), ()).hash + weights,
        folder=job.out / "stages",
    )
    refiner = network.refiner
    if refiner is None or refiner.config.encoder == "shared" or job.refiner:
        yield from train_stages(run, network, items, held)
        return
    # The refiner has not seen these documents, so its weights are as honest on them as on any to come.
    items, held = with_weights(refiner, items, job.seed), with_weights(refiner, held, job.seed)
    yield from _ordering(run, model, items, held)


def _ordering(run: Run, model: Model, items: Sequence[Item], held: Sequence[Item]) -> Iterator[Progress]:
    training = run.training
    stage = OrderingStage(
        "fine-tune",
        model.network,
        items,
        held,
        derived(run.seed, "valid") % 2**31,
        beam=training.validation_beam,
        measure=training.measure,
    )
    recipe = [model.config.write(), asdict(training) | {"minutes": 0}]
    yield from run.stage(stage, recipe, epochs=training.epochs, patience=training.patience, minutes=training.minutes)


def _card(model: Model, result: FineTuned) -> str:
    before, after = result.before.mean, result.after.mean
    kept = "" if result.improved else " The new weights were no better, so the old ones were kept."
    return (
        f"{model.card.rstrip()}\n\n## Fine-tuned\n\n"
        f"On {result.documents} documents; on {result.held_out} held out, tau went from {before.tau:.2f} to "
        f"{after.tau:.2f} and PMR from {before.pmr:.2f} to {after.pmr:.2f} (mean of {SHUFFLES} shuffles).{kept}\n"
    )
