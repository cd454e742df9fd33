"""Untrained models at the paper's size, and documents made ready for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from unshuffle.graph.batch import collate
from unshuffle.graph.prepare import Item
from unshuffle.search.contracts import Search
from unshuffle.system.folder import Model
from unshuffle.system.rows import load_row
from unshuffle.text.document import Document
from unshuffle.training.loop import Drawn, draw
from unshuffle.training.run import new_model
from unshuffle_research.benchmarks.settings import Settings

QUICK_WIDTH = 32


def model_of(system: str, documents: Sequence[Document], *, quick: bool, changes: Sequence[str] = ()) -> Model:
    """A system with random weights; made small where only the benchmark itself is to be tried."""
    every = ["graph.entities.minimum_count=0", "tokens.split=spaces", *changes]
    if quick:
        every += [f"sentence_encoder.width={QUICK_WIDTH}"]
    torch.manual_seed(1)
    model = new_model(system, load_row(system, every).system, documents, seed=1)
    model.network.eval()
    return model


def items_of(model: Model, documents: Sequence[Document]) -> list[Item]:
    """Documents as the network reads them."""
    return [model.preparer.item(document) for document in documents]


def drawn_of(items: Sequence[Item], *, batch: int = 16, seed: int = 0) -> list[Drawn]:
    """Random batches, as they are drawn in training."""
    return [
        draw(items, range(start, min(start + batch, len(items))), seed + start) for start in range(0, len(items), batch)
    ]


def decoding_model(system: str, documents: Sequence[Document], settings: Settings) -> Model:
    """A trained model where a folder is named; else random weights that are as sure of themselves as trained ones."""
    if settings.model and load_row(system).system.refiner is None:
        from unshuffle.system.folder import load_model

        return load_model(settings.model)
    model = model_of(system, documents, quick=settings.quick)
    sharpen(model, items_of(model, documents[:32]))
    return model


@torch.inference_mode()
def sharpen(model: Model, items: Sequence[Item], wanted: float = -2.0) -> None:
    """Scales the pointer's scores until the best order of a document has the log-probability of a trained network.

    A search that drops hopeless orders would find nothing to drop among the even chances of fresh weights.
    """
    network = model.network
    batch = collate(items)
    read = network.read(batch)
    score: Any = network.decoder.score
    low, high = 1.0, 1e4
    before = score.weight.clone()
    for _ in range(12):
        middle = (low * high) ** 0.5
        score.weight.copy_(before * middle)
        found = network.search(read, batch, Search(beam=1))
        mean = sum(best.log_probabilities[0] for best in found) / len(found)
        low, high = (middle, high) if mean < wanted else (low, middle)
