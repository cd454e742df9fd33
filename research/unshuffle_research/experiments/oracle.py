"""How tau grows with the reliability of link weights: ordering models trained and tested on weights of known quality.

Each linked pair weighs q or 1 - q and is right with chance q, independently of all others. A classifier's errors are
not independent, so one of that accuracy brings less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unshuffle.evaluation.results import command_line, commit, versions
from unshuffle.graph.prepare import Item
from unshuffle.metrics.bootstrap import Band, bootstrap_band
from unshuffle.metrics.orders import perfect_match, tau
from unshuffle.search.contracts import Search
from unshuffle.seeds import derived
from unshuffle.storage.files import read_json, write_json
from unshuffle.system.network import Network
from unshuffle.training.classifiers import shuffled_batches
from unshuffle.training.run import new_fabric, new_model
from unshuffle.training.stages import Run, train_stages
from unshuffle_research.experiments.bench import Bench
from unshuffle_research.experiments.plan import Dataset, Plan
from unshuffle_research.experiments.plots import Curve, curves
from unshuffle_research.experiments.sheet import Plot, Sheet, Table, banded, spread

SUREST = 0.99
"""A weight of 1 would leave the other direction without any message."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """One ordering model under weights of one reliability: tau and PMR of each test document."""

    reliability: float
    seed: int
    tau: Floats
    pmr: Floats
    minutes: float


def oracle(bench: Bench) -> Iterator[Sheet]:
    """One sheet a data set; points that lie in the folder of runs are not made again."""
    for dataset in bench.datasets:
        points = []
        for reliability in bench.settings.reliabilities:
            for plan in bench.plans(dataset):
                point = _point(bench, plan, reliability)
                if point is None:
                    bench.models.missing.append(plan)
                else:
                    points.append(point)
        if points:
            yield _sheet(dataset, points, bench.plans(dataset)[0].label)


def weighed(items: Sequence[Item], reliability: float, seed: int) -> list[Item]:
    """Documents in their true order, each link with a weight that is right with that chance."""
    draw = np.random.default_rng(derived(seed, "oracle"))
    sure = min(reliability, SUREST)
    found = []
    for item in items:
        first, second = item.graph.pairs
        right = draw.random(len(first)) < reliability
        weights = np.where(right == (first < second), sure, 1 - sure).astype(np.float32)
        found.append(replace(item, graph=replace(item.graph, weights=weights)))
    return found


def _point(bench: Bench, plan: Plan, reliability: float) -> Point | None:
    models = bench.models
    folder = models.folder / "oracle" / f"{plan.key}-{reliability:g}"
    file = folder / "point.json"
    if not file.is_file():
        if not models.training or models.clock.over:
            return None
        models.say(f"{plan.key}: reliability {reliability:g}")
        write_json(file, _trained(bench, plan, reliability, folder))
    said = read_json(file)
    path = bench.out / f"{plan.row}-{plan.dataset.name}-{plan.seed}-{reliability:g}.json"
    write_json(path, said)
    bench.written.append(path)
    return Point(reliability, plan.seed, np.array(said["tau"]), np.array(said["pmr"]), said["minutes"])


def _trained(bench: Bench, plan: Plan, reliability: float, folder: Path) -> dict[str, Any]:
    """Trains one ordering model until its patience ends, and orders the test documents in several shuffles."""
    parsed = {
        split: bench.models.parsed(plan.dataset, split, plan.config.parser) for split in ("train", "valid", "test")
    }
    torch.manual_seed(derived(plan.seed, "weights") % 2**31)
    model = new_model(plan.system, plan.config, parsed["train"], plan.seed)
    items = {
        split: weighed(list(model.preparer.items(documents)), reliability, derived(plan.seed, split))
        for split, documents in parsed.items()
    }
    run = Run(
        fabric=new_fabric(folder, plan.seed),
        config=plan.config,
        training=plan.training,
        seed=plan.seed,
        data_hash=f"{plan.dataset.splits.hash} oracle {reliability:g}",
        folder=folder / "stages",
        precision=plan.precision,
    )
    for progress in train_stages(run, model.network, items["train"], items["valid"]):
        bench.models.progress(progress)
    model.network.eval()
    rows = np.mean(
        [_ordered(model.network, items["test"], bench.beam, shuffle) for shuffle in range(bench.shuffles)], 0
    )
    trail = run.trail()
    return {
        "system": plan.row,
        "dataset": plan.dataset.name,
        "comparable": plan.dataset.comparable,
        "seed": plan.seed,
        "reliability": reliability,
        "command": command_line(),
        "commit": commit(),
        "versions": versions(),
        "minutes": round(sum(float(stage["minutes"]) for stage in trail), 2),
        "stages": trail,
        "shuffles": bench.shuffles,
        "beam": bench.beam,
        "training": asdict(plan.training),
        "tau": [round(value, 4) for value in rows[:, 0].tolist()],
        "pmr": [round(value, 4) for value in rows[:, 1].tolist()],
    }


@torch.inference_mode()
def _ordered(network: Network, items: Sequence[Item], beam: int, shuffle: int) -> Floats:
    """(documents, 2) tau and PMR of each, in percent; documents by length."""
    rows = []
    for drawn in shuffled_batches(items, derived(1, "oracle shuffle", shuffle) % 2**31):
        batch, _ = drawn.collated(next(network.parameters()).device)
        found = network.search(network.read(batch), batch, Search(beam=beam))
        for best, true in zip(found, drawn.orders, strict=True):
            rows.append([100 * tau(best.orders[0], true), 100 * float(perfect_match(best.orders[0], true))])
    return np.array(rows, np.float64)


def _sheet(dataset: Dataset, points: Sequence[Point], label: str) -> Sheet:
    by_reliability: dict[float, list[Point]] = {}
    for point in points:
        by_reliability.setdefault(point.reliability, []).append(point)
    bands = {reliability: _band(some) for reliability, some in by_reliability.items()}
    cells = tuple(
        (
            f"{100 * reliability:g} %",
            spread([float(point.tau.mean()) for point in some]),
            banded(bands[reliability]),
            spread([float(point.pmr.mean()) for point in some]),
            str(len(some)),
            f"{np.mean([point.minutes for point in some]):.0f}",
        )
        for reliability, some in by_reliability.items()
    )
    shares = [100 * reliability for reliability in bands]
    figure = curves(
        [Curve(label, shares, list(bands.values()))], x="link weights that are right, %", y="τ on the test set"
    )
    head = ("weights right", "τ", "95 % of documents", "PMR", "seeds", "minutes")
    return Sheet(
        dataset=dataset.name,
        subtitle=f"{dataset.described}; {label}",
        tables=(Table("Ordering models trained and tested on weights of one reliability", head, cells),),
        plots=(Plot("reliability", "τ against the share of link weights that are right.", figure),),
        notes=(
            "A weight is q or 1 - q and right with chance q, independently of all others; a classifier's errors depend "
            "on each other, so one of that accuracy brings less.",
        ),
        figures={
            f"{reliability:g}": {"tau": [float(point.tau.mean()) for point in some]}
            for reliability, some in by_reliability.items()
        },
    )


def _band(points: Sequence[Point]) -> Band:
    return bootstrap_band(np.mean([point.tau for point in points], 0), np.random.default_rng(derived(1, "oracle")))
