"""Untrained models at the paper's size, and documents made ready for them."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from unshuffle.graph.batch import Item
from unshuffle.system.folder import Model
from unshuffle.systems import load_row
from unshuffle.text.document import Document
from unshuffle.training.loop import Drawn, draw
from unshuffle.training.run import new_model

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
