"""One training from documents to a model folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.graph.build import EntityVocabulary, count_nouns
from unshuffle.graph.topics import LDAConfig, LDATopics
from unshuffle.machine import Precision, usable_device, usable_precision
from unshuffle.seeds import derived
from unshuffle.storage.files import read_json, write_json
from unshuffle.system.config import SystemConfig
from unshuffle.system.folder import Model, build_preparer, load_model, save_model
from unshuffle.system.loading import find_folder
from unshuffle.system.network import Network
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.text.parsing.mentions import load_parser
from unshuffle.training.checkpoint import check_settings
from unshuffle.training.config import TrainingConfig
from unshuffle.training.corpus import Splits, parsed, sentences_of
from unshuffle.training.loop import Progress
from unshuffle.training.processes import Launched, leads
from unshuffle.training.stages import Run, train_stages

if TYPE_CHECKING:
    from lightning_fabric import Fabric


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """What to train, on what, and where to put it."""

    name: str
    config: SystemConfig
    training: TrainingConfig
    data: Splits
    out: Path
    seed: int = 1
    resume: bool = False
    stages: Path | None = None
    """Folder of finished stages that several trainings share."""
    cache: Path | None = None
    """Folder of parses, and of the vectors of frozen encoders; several trainings may share it."""
    parser: str | None = None
    """Parser for the training documents, where it is not the system's."""
    device: str = "cpu"
    precision: Precision | Literal["auto"] = "32"
    start: str = ""
    """Folder or name of a model whose weights are taken over where they fit; empty for a fresh start."""


def take_over(model: Model, start: str) -> None:
    """Begins with another model's weights; parts that it lacks keep their own beginning."""
    other = load_model(start)
    known, own = other.network.state_dict(), model.network.state_dict()
    fitting = {name: value for name, value in known.items() if name in own and own[name].shape == value.shape}
    same_words = other.preparer.tokenizer.backend.get_vocab() == model.preparer.tokenizer.backend.get_vocab()
    if not same_words or 2 * _numbers(fitting) < _numbers(own):
        raise ConfigError(f"{start}: its words or most of its weights do not fit. Start from a model of the same kind.")
    model.network.load_state_dict({**own, **fitting})


def beginning(start: str) -> str:
    """What tells the weights of one beginning from those of another, so that no stage of another is gone on with."""
    if not start:
        return ""
    return str(read_json(find_folder(start) / "config.json")["sha256"])


def keep_vectors(network: Network, folder: Path | None) -> None:
    """Keeps the vectors of frozen encoders on disk, so that each is computed once in all epochs; None for no longer."""
    for encoder in network.sentence_encoders():
        encoder.keep_vectors(folder)


def _numbers(tensors: Mapping[str, Tensor]) -> int:
    return sum(tensor.numel() for tensor in tensors.values())


def train_system(job: TrainingJob, report: Callable[[Progress], None] = lambda progress: None) -> Orderer:
    """Trains all stages and saves the model; a run that was cut off goes on with `resume`."""
    job.data.check()
    job.config.resolved()  # an encoder that is not there is missed now and not when the corpus is parsed
    fabric = new_fabric(job.out, job.seed, Launched.read(), device=job.device)
    marker = job.out / "stages"
    if marker.exists() and any(marker.iterdir()) and not job.resume:
        raise ConfigError(
            f"{job.out}: there is already a training. Use --resume to continue it, or choose another --out."
        )
    fabric.barrier()  # before the first of them makes the folder that the others have just looked for
    cache = job.cache or job.out / "parses"
    train = parsed(job.data.train, job.parser or job.config.parser, cache)
    valid = parsed(job.data.valid, job.parser or job.config.parser, cache)
    torch.manual_seed(derived(job.seed, "weights") % 2**31)
    model = new_model(job.name, job.config, train, job.seed)
    if job.start:
        take_over(model, job.start)
    keep_vectors(model.network, cache)
    items = list(model.preparer.items(train))
    run = Run(
        fabric=fabric,
        config=job.config,
        training=job.training,
        seed=job.seed,
        data_hash=Splits(train, valid, ()).hash + beginning(job.start),
        folder=job.stages or marker,
        precision=usable_precision(job.precision, fabric.device),
    )
    check_settings(job.out, run.settings(), write=leads())
    fabric.barrier()
    for step, progress in enumerate(train_stages(run, model.network, items, list(model.preparer.items(valid)))):
        if not leads():
            continue
        report(progress)
        if progress.score is not None:
            fabric.log(f"{progress.stage}/valid", progress.score, step=progress.epoch)
            fabric.log(f"{progress.stage}/loss", progress.loss, step=progress.epoch)
            write_json(
                job.out / "progress.json",
                {
                    "stage": progress.stage,
                    "epoch": progress.epoch,
                    "step": step,
                    "valid": progress.score,
                    "best": progress.best,
                },
            )
    model.network.eval()
    keep_vectors(model.network, None)  # a model that is loaded again has no such folder, and must answer alike
    if leads():
        write_json(job.out / "trail.json", run.trail())
        save_model(model, job.out)
    fabric.barrier()
    return Orderer(model)


def new_model(name: str, config: SystemConfig, documents: Sequence[Document], seed: int) -> Model:
    """An untrained model whose vocabularies come from the training documents."""
    config = config.resolved()
    known = config.sentence_encoder.vocabulary(sentences_of(documents), config.tokens, derived(seed, "vectors"))
    network = Network(config, words=known.tokenizer.size, vectors=known.vectors)
    entities = None
    rule = config.graph.entities
    if rule.minimum_count:
        entities = EntityVocabulary.from_counts(count_nouns(documents), rule)
    topics = None
    if config.graph.topics:
        lda = LDAConfig(topics=config.graph.topics, seed=derived(seed, "topics") % 2**31)
        topics = LDATopics.fit(sentences_of(documents), lda)
    preparer = build_preparer(config, known.tokenizer, entities, topics)
    parser = {"name": config.parser, "fingerprint": load_parser(config.parser).fingerprint}
    return Model(name, config, network, preparer, parser)


def new_fabric(out: Path, seed: int, launched: Launched | None = None, *, device: str = "cpu") -> Fabric:
    """One process on one device, or one of those that torchrun has launched; the log lies beside the model."""
    try:
        from lightning_fabric import Fabric
        from lightning_fabric.loggers.tensorboard import TensorBoardLogger
        from lightning_fabric.strategies.ddp import DDPStrategy
    except ImportError:
        raise MissingExtra("Training", "train") from None
    launched = launched or Launched()
    # What a batch does not touch (a refiner trained before, relations of no entity) has no gradient.
    chosen = usable_device(device)
    # Counts and link weights are summed on the CPU, gradients where they are.
    backend = "cpu:gloo,cuda:nccl" if chosen.type == "cuda" else "gloo"
    many = DDPStrategy(process_group_backend=backend, find_unused_parameters=True)
    fabric = Fabric(
        accelerator=chosen.type,
        devices=launched.on_this_node if chosen.index is None else [chosen.index],
        num_nodes=launched.nodes,
        strategy=many if launched.ranks > 1 else "auto",
        loggers=TensorBoardLogger(str(out), name="log", version=f"seed-{seed}"),
    )
    fabric.launch()
    return fabric
