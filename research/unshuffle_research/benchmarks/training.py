"""Training: documents per second against the dense twin and against the arithmetic of the plain equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

import torch
from torch import Tensor, nn

from unshuffle.decode.contracts import Gold
from unshuffle.graph.batch import collate
from unshuffle.graph.prepare import Item
from unshuffle.machine import KEPT, USUAL, keep_memory
from unshuffle.system.network import Network
from unshuffle.training.classifiers import InitialTask, IterativeTask
from unshuffle.training.config import TrainingConfig
from unshuffle.training.corpus import epoch_batches
from unshuffle.training.loop import Drawn, draw
from unshuffle.training.optimizers import build_optimizer
from unshuffle.training.ordering import OrderingTask
from unshuffle_research.benchmarks.arithmetic import classifier_flops, training_flops
from unshuffle_research.benchmarks.documents import nips_like
from unshuffle_research.benchmarks.machine import one_thread, seconds, sgemm_rate
from unshuffle_research.benchmarks.models import drawn_of, items_of, model_of
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target
from unshuffle_research.benchmarks.twin import Twin
from unshuffle_research.benchmarks.twin_batch import PaddedBatch, padded_orders

SHARE, TWIN, TWIN_SHARE = 0.6, 3.0, 0.2
NEAR = 1e-4

CPU = torch.device("cpu")


def run(settings: Settings) -> Report:
    """SE-GRN beside its twin, then all three trainings of IRSE-GRN."""
    one_thread()
    count, repeats = (32, 1) if settings.quick else (320, 5)
    documents = nips_like(count)
    model = model_of("se-grn", documents, quick=settings.quick)
    items = items_of(model, documents)
    twin = Twin(model.network)
    assert_alike(model.network, twin, drawn_of(items[:16]))
    passes = {
        "ours": _ours(OrderingTask(model.network), items),
        "twin": _twin(twin, items),
    }
    flops = {"ours": training_flops(model.config, items)}
    full = model_of("irse-grn", documents, quick=settings.quick)
    refiner, weighted = full.network.refiner, items_of(full, documents)
    assert refiner is not None and refiner.initial is not None
    full.network.refiner = None  # its weights come with the documents in this stage
    passes["ordering model of IRSE-GRN"] = _ours(OrderingTask(full.network), weighted)
    passes["initial classifier"] = _ours(InitialTask(refiner.initial), weighted)
    passes["iterative classifier"] = _ours(IterativeTask(refiner, noise_share=0.2), weighted)
    flops["ordering model of IRSE-GRN"] = training_flops(full.config, weighted)
    flops["initial classifier"] = classifier_flops(full.config, weighted, backward=True)
    flops["iterative classifier"] = flops["initial classifier"]
    for step in passes.values():
        step(slice(0, 1))  # optimisers get their memory
    rounds: dict[str, list[float]] = {name: [] for name in passes}
    rates = []
    for _ in range(repeats):
        rates.append(sgemm_rate())
        for name, step in passes.items():
            rounds[name].append(seconds(lambda step=step: step(slice(None))))  # type: ignore[misc]
    # Each round compares neighbours in time, so that a machine slower for a while is slower for both.
    times = [twin / ours for twin, ours in zip(rounds["twin"], rounds["ours"], strict=True)]
    spent = {name: min(found) for name, found in rounds.items()}
    rate = max(rates)
    share = {name: flops[name] / rate / spent[name] for name in flops}
    refined = [name for name in flops if name != "ours"]
    whole = sum(flops[name] for name in refined) / rate / sum(spent[name] for name in refined)
    twin_share = flops["ours"] / rate / spent["twin"]
    return Report(
        "training",
        (
            Target(name="SE-GRN: times the twin's documents/s", ratio=median(times), limit=TWIN),
            Target(name="SE-GRN: share of the arithmetic limit", ratio=share["ours"], limit=SHARE),
            Target(name="twin: share of the arithmetic limit", ratio=twin_share, limit=TWIN_SHARE),
        ),
        {
            "times the twin, round by round": {str(number): found for number, found in enumerate(times, 1)},
            "documents per second": {name: count / spent[name] for name in passes},
            "share of the arithmetic limit": share | {"IRSE-GRN, all three": whole},
            "operations per document (GFLOP)": {name: value / count / 1e9 for name, value in flops.items()},
            "sgemm (GFLOP/s)": rate / 1e9,
        },
    )


def _ours(task: nn.Module, items: Sequence[Item]) -> Callable[[slice], None]:
    """Steps over an epoch as the training loop cuts it."""
    epoch = epoch_batches(items, range(len(items)), 16, seed=1)
    batches = [draw(items, numbers, seed) for seed, numbers in enumerate(epoch)]
    return _steps(
        task,
        build_optimizer(task, TrainingConfig()),
        batches,
        lambda drawn: task(*drawn.collated(CPU), drawn),
        kept=KEPT,
    )


def _twin(twin: Twin, items: Sequence[Item]) -> Callable[[slice], None]:
    """Steps over random batches, padded, with torch's optimiser."""

    def loss(drawn: Drawn) -> Tensor:
        found: Tensor = twin(PaddedBatch.of(drawn.items), padded_orders(drawn.orders))
        return found

    optimizer = torch.optim.Adadelta(twin.parameters(), lr=1.0, rho=0.95, eps=1e-6, weight_decay=1e-5)
    return _steps(twin, optimizer, drawn_of(items), loss, kept=USUAL)


def _steps(
    module: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: list[Drawn],
    loss: Callable[[Drawn], Tensor],
    *,
    kept: int,
) -> Callable[[slice], None]:
    """`kept`: how much freed memory stays with the process; the training loop asks for that, other programs do not."""
    module.train()

    def run(part: slice) -> None:
        keep_memory(kept)
        for drawn in batches[part]:
            optimizer.zero_grad()
            torch.autograd.backward(loss(drawn))
            optimizer.step()

    return run


def assert_alike(network: Network, twin: Twin, batches: Sequence[Drawn]) -> None:
    """The same losses, or the comparison would be worth nothing."""
    network.eval()
    twin.eval()
    with torch.no_grad():
        for drawn in batches:
            ours = network(collate(drawn.items), Gold.of([list(order) for order in drawn.orders]))
            theirs = twin(PaddedBatch.of(drawn.items), padded_orders(drawn.orders))
            assert abs(float(ours - theirs)) < NEAR, f"twin: {float(theirs)}, network: {float(ours)}"
