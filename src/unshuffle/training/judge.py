"""Training a cross-encoder to judge pairs, with the loop, checkpoints and time limits of every other training."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from unshuffle.decode.contracts import Gold
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import Batch
from unshuffle.graph.build import GraphConfig
from unshuffle.graph.prepare import Item, Preparer
from unshuffle.judge.cross_encoder import CrossEncoder, CrossEncoderConfig, CrossEncoderJudge
from unshuffle.machine import Precision, computing, device_of, usable_precision
from unshuffle.seeds import derived
from unshuffle.system.folder import load_model
from unshuffle.text.document import Document
from unshuffle.text.tokens import Tokenizer, TokensConfig
from unshuffle.training.checkpoint import Checkpoint
from unshuffle.training.classifiers import shuffled_batches
from unshuffle.training.config import TrainingConfig
from unshuffle.training.corpus import Splits
from unshuffle.training.loop import Drawn, Progress, train
from unshuffle.training.processes import leads, rank, ranks, summed
from unshuffle.training.run import beginning, new_fabric

PAIRS = 4
"""Pairs of a document that a step learns from, or fewer where it has fewer."""
SETTINGS = TrainingConfig(
    optimizer="adamw",
    learning_rate=5e-5,
    weight_decay=0.01,
    warmup=0.1,
    clip=1.0,
    batch=8,
    epochs=6,
    patience=3,
)


@dataclass(frozen=True, kw_only=True)
class JudgeTraining:
    """What a judge is trained on, and where it is put."""

    config: CrossEncoderConfig
    data: Splits
    out: Path
    training: TrainingConfig = SETTINGS
    seed: int = 1
    device: str = "cpu"
    precision: Precision | Literal["auto"] = "32"
    start: str = ""
    """Folder or name of an ordering model whose transformer the judge begins with; empty for the encoder as it is."""


class PairTask(nn.Module):
    """Cross-entropy over a few pairs of each document."""

    def __init__(self, model: CrossEncoder) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch, gold: Gold, drawn: Drawn) -> Tensor:
        """The mean over the pairs here, weighed by how many there are in all processes."""
        pairs, truth = drawn_pairs(drawn)
        logits = self.model([item.words for item in drawn.items], pairs)
        loss = binary_cross_entropy_with_logits(logits, torch.tensor(truth, device=logits.device))
        everywhere = sum(map(len, drawn_pairs(drawn.whole or drawn)[0]))
        return drawn.weighed(loss, len(truth), everywhere)


class PairStage:
    """Trains the judge; scored by the share of validation pairs that it puts right."""

    def __init__(
        self, model: CrossEncoder, items: Sequence[Item], valid: Sequence[Item], seed: int, precision: Precision = "32"
    ) -> None:
        self.name, self.items, self._precision = "judge", items, precision
        self.module: nn.Module = PairTask(model)
        self._model = model
        self._valid = shuffled_batches(valid, seed)

    def score(self) -> float:
        """In percent, over a few pairs of each document, the same at every epoch."""
        right = count = 0.0
        for drawn in self._valid[rank() :: ranks()]:
            pairs, truth = drawn_pairs(drawn)
            if truth:
                with computing(device_of(self._model), self._precision):
                    found = self._model([item.words for item in drawn.items], pairs) > 0
                right += float((found.cpu() == (torch.tensor(truth) > 0.5)).sum())
                count += len(truth)
        right, count = summed([right, count])
        return 100 * right / max(count, 1)


def drawn_pairs(drawn: Drawn) -> tuple[list[list[tuple[int, int]]], list[float]]:
    """A few pairs of each document, drawn from the step's seed, and whether the first of each truly comes first."""
    pairs: list[list[tuple[int, int]]] = []
    truth: list[float] = []
    for number, order in enumerate(drawn.orders):
        random = np.random.default_rng(derived(drawn.seed, drawn.first + number))
        first, second = np.triu_indices(len(order), 1)
        chosen = random.permutation(len(first))[:PAIRS]
        position = np.argsort(order)
        pairs.append([(int(first[at]), int(second[at])) for at in chosen])
        truth += [float(position[first[at]] < position[second[at]]) for at in chosen]
    return pairs, truth


def take_over_transformer(model: CrossEncoder, tokenizer: Tokenizer, start: str) -> None:
    """Begins with the transformer that an ordering model has trained; only the head starts from nothing."""
    other, own = load_model(start), model.pieces.state_dict()
    slot = "sentence_encoder.pieces."
    tensors = other.network.state_dict().items()
    known = {name.removeprefix(slot): value for name, value in tensors if name.startswith(slot)}
    same_words = other.preparer.tokenizer.backend.get_vocab() == tokenizer.backend.get_vocab()
    if not same_words or {n: v.shape for n, v in known.items()} != {n: v.shape for n, v in own.items()}:
        raise ConfigError(f"{start}: its transformer is not of the encoder's kind. Give the --encoder it began with.")
    model.pieces.load_state_dict(known)


def train_judge(job: JudgeTraining, report: Callable[[Progress], None] = lambda progress: None) -> CrossEncoderJudge:
    """Trains, or goes on with a training that was cut off, and saves the judge."""
    job.data.check()
    config = job.config.resolved()
    tokenizer = config.vocabulary((), TokensConfig(longest=config.longest), job.seed).tokenizer
    torch.manual_seed(derived(job.seed, "judge") % 2**31)
    model = CrossEncoder(config, words=tokenizer.size)
    if job.start:
        take_over_transformer(model, tokenizer, job.start)
    preparer = Preparer(tokenizer=tokenizer, config=GraphConfig())

    def items(documents: Sequence[Document]) -> list[Item]:
        several = (document for document in documents if len(document.sentences) > 1)
        return [preparer.item(replace(document, mentions=())) for document in several]

    fabric = new_fabric(job.out, job.seed, device=job.device)
    precision = usable_precision(job.precision, fabric.device)
    drawn_by = derived(job.seed, "valid") % 2**31
    stage = PairStage(model.to(fabric.device), items(job.data.train), items(job.data.valid), drawn_by, precision)
    timeless = replace(job.training, minutes=0)
    settings = [asdict(config), asdict(timeless), job.data.hash + beginning(job.start), job.seed, precision]
    deciding = json.dumps(settings, sort_keys=True, default=str)
    fingerprint = hashlib.sha256(deciding.encode()).hexdigest()[:16]
    for progress in train(
        fabric,
        stage,
        job.training,
        seed=job.seed,
        checkpoint=Checkpoint(job.out / "stages" / f"judge-{fingerprint}", fingerprint),
        epochs=job.training.epochs,
        patience=job.training.patience,
        minutes=job.training.minutes,
        precision=precision,
    ):
        report(progress)
    judge = CrossEncoderJudge(model.cpu(), tokenizer)
    if leads():
        judge.save(job.out)
    return judge
