"""What came of trainings with the leak in them: every checkpoint, and the orders of models taught by told weights."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unshuffle.evaluation.predict import shuffled
from unshuffle.evaluation.results import command_line, commit, versions
from unshuffle.graph.batch import collate
from unshuffle.metrics.summary import OrderPair, tally
from unshuffle.search.contracts import Search
from unshuffle.storage.files import read_json, write_json
from unshuffle.system.folder import load_model
from unshuffle.system.orderer import Orderer
from unshuffle.system.rows import load_row
from unshuffle.text.document import Document
from unshuffle.training.corpus import parsed
from unshuffle_research.experiments.page import write_page
from unshuffle_research.experiments.plan import Dataset, open_dataset
from unshuffle_research.experiments.plots import new_figure
from unshuffle_research.experiments.report import write_sheet
from unshuffle_research.experiments.settings import Settings
from unshuffle_research.experiments.sheet import Plot, Sheet, Table, spread
from unshuffle_research.leaks.direction import Case, refined

SETTINGS = Settings(
    title="The leak, trained in",
    place="ours",
    question="How much can choosing a checkpoint, and teaching the ordering model, by told answers explain?",
    systems=("irse-grn", "irse-grn-fh"),
)
SHUFFLES = 3
WAYS = {"told": "as the leak tells them", "honest": "honest"}


@dataclass(frozen=True)
class Trained:
    """A model trained with the leak."""

    system: str
    seed: int
    recipe: str
    folder: Path

    @property
    def checkpoints(self) -> list[dict[str, Any]]:
        """Of the iterative classifier that learned from all documents, one after every epoch."""
        file = self.folder.parent / f"checkpoints-{self.recipe}-{self.seed}.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        return [found for line in lines if (found := json.loads(line))["stage"] == "iterative-all"]


def measure(trained: Sequence[Trained], data: str, out: Path, cache: Path, *, beam: int = 64) -> Path:
    """One JSON a model, and a sheet of all; models that were measured before are read back."""
    dataset = open_dataset(data)
    found = []
    for one in trained:
        path = out / f"{one.recipe}-{one.system}-{dataset.name}-{one.seed}.json"
        trail = read_json(one.folder / "trail.json")
        if not path.is_file() or read_json(path)["stages"] != trail:
            write_json(path, _measured(one, dataset, cache, beam) | {"stages": trail})
        found.append(read_json(path))
    path = write_sheet(_sheet(dataset, found), "leaks-trained", SETTINGS, out, minutes=0.0)
    write_page(out.parent)
    return path


@torch.inference_mode()
def _measured(one: Trained, dataset: Dataset, cache: Path, beam: int) -> dict[str, Any]:
    orderer = Orderer(load_model(str(one.folder)))
    documents = parsed(dataset.splits.test, orderer.model.config.parser, cache)
    pairs: dict[str, list[OrderPair]] = {way: [] for way in WAYS}
    right, linked = dict.fromkeys(WAYS, 0.0), 0
    for case, orders in _orders(orderer, documents, one.seed, beam):
        linked += len(case.truth)
        for way, order in orders.items():
            pairs[way].append(OrderPair(order, tuple(range(len(order)))))
            predicted = refined(case, told=way == "told").predicted
            right[way] += float((predicted > 0.5).sum() + 0.5 * (predicted == 0.5).sum())
    scores = {way: tally(some).score() for way, some in pairs.items()}
    return {
        "system": one.system,
        "recipe": one.recipe,
        "dataset": dataset.name,
        "comparable": dataset.comparable,
        "seed": one.seed,
        "command": command_line(),
        "commit": commit(),
        "versions": versions(),
        "minutes": round(sum(float(stage["minutes"]) for stage in read_json(one.folder / "trail.json")), 2),
        "beam": beam,
        "shuffles": SHUFFLES,
        "checkpoints": one.checkpoints,
        "pairs": {way: round(100 * count / max(linked, 1), 3) for way, count in right.items()},
        "orders": {
            way: {"acc_micro": score.acc_micro, "tau": score.tau, "pmr": score.pmr} for way, score in scores.items()
        },
    }


@torch.inference_mode()
def _orders(
    orderer: Orderer, documents: Sequence[Document], seed: int, beam: int
) -> Iterator[tuple[Case, dict[str, tuple[int, ...]]]]:
    """Each test document in each shuffle, ordered under told and under honest link weights; orders list true places."""
    network = orderer.model.network
    assert network.refiner is not None
    for shuffle in range(SHUFFLES):
        for document, permutation in shuffled(documents, shuffle, seed):
            if len(permutation) < 2:
                continue
            batch = collate([orderer.model.preparer.item(document)])
            encoded, place = network.sentence_encoder(batch), torch.tensor(permutation)
            case = Case.of(network.refiner, batch, encoded, place[batch.graph.pairs[0]] < place[batch.graph.pairs[1]])
            orders = {}
            for way in WAYS:
                states = network.paragraph_encoder(encoded, batch.graph, refined(case, told=way == "told").raw)
                (best,) = network.decoder.search(states, batch.graph, Search(beam=beam))
                orders[way] = tuple(permutation[number] for number in best.orders[0])
            yield case, orders


def _sheet(dataset: Dataset, found: Sequence[dict[str, Any]]) -> Sheet:
    rows, kept = [], {}
    for one in found:
        if one["checkpoints"]:
            kept[one["recipe"], one["seed"]] = one["checkpoints"]
    for (recipe, seed), checkpoints in kept.items():
        columns = {name: np.array([point[name] for point in checkpoints]) for name in ("honest", "told", "yes")}
        chosen = int(columns["told"].argmax())
        alike = float(np.corrcoef(columns["told"], columns["yes"])[0, 1]) if len(checkpoints) > 2 else float("nan")
        spans = [f"{values.min():.1f} to {values.max():.1f}" for values in columns.values()]
        picked = " / ".join(f"{columns[name][chosen]:.1f}" for name in ("honest", "told"))
        rows.append((recipe, str(seed), str(len(checkpoints)), *spans, f"{alike:.2f}", f"{chosen + 1}: {picked}"))
    head = (
        "recipe",
        "seed",
        "checkpoints",
        "honest, %",
        "told, %",
        "mean yes-logit",
        "r(told, yes)",
        "chosen: honest / told",
    )
    cells = []
    for recipe, system in dict.fromkeys((one["recipe"], one["system"]) for one in found):
        some = [one for one in found if (one["recipe"], one["system"]) == (recipe, system)]
        for way, title in WAYS.items():
            figures = [spread([one["orders"][way][name] for one in some]) for name in ("acc_micro", "tau", "pmr")]
            pairs = spread([one["pairs"][way] for one in some])
            cells.append((load_row(system).about.title, recipe, title, pairs, *figures, str(len(some))))
    points = {
        f"{recipe}, seed {seed}, {number}": (point["yes"], point["told"])
        for (recipe, seed), checkpoints in kept.items()
        for number, point in enumerate(checkpoints, 1)
    }
    plots: tuple[Plot, ...] = ()
    if points:
        figure = _dots(points)
        plots = (Plot("checkpoints", "Told accuracy of every checkpoint against its tendency to say yes.", figure),)
    return Sheet(
        dataset=dataset.name,
        subtitle=f"{dataset.described}; {len(found)} models trained with the leak",
        tables=(
            Table("Every checkpoint of the iterative classifier, on validation pairs", head, tuple(rows)),
            Table(
                "Ordering models taught by told link weights, on the test set",
                ("system", "recipe", "link weights at test", "pairs, %", "Acc", "τ", "PMR", "seeds"),
                tuple(cells),
            ),
        ),
        plots=plots,
        notes=(
            "honest: both directions asked; told: the true direction only, by which the checkpoint is chosen.",
            "The paper's figures for NIPS: pairs 86.32; τ 80.45, with FHDecoder 87.45.",
        ),
        figures={f"{one['recipe']}-{one['system']}-{one['seed']}": one["orders"] for one in found},
    )


def _dots(points: dict[str, tuple[float, float]]) -> Any:
    """A cloud without names."""
    figure = new_figure(6.4, 4.1)
    axes = figure.subplots()
    axes.scatter(*zip(*points.values(), strict=True), s=14)
    axes.set_xlabel("mean logit of yes, both directions")
    axes.set_ylabel("reported pair accuracy, %")
    return figure
