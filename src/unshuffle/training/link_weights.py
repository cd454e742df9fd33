"""The link weights that trained classifiers give to documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from unshuffle.graph.item import Item
from unshuffle.machine.devices import device_of
from unshuffle.refine.iterative import Refiner
from unshuffle.seeds import derived
from unshuffle.training.classifiers import linked_pairs, shuffled_batches
from unshuffle.training.loop import Drawn
from unshuffle.training.processes import divided


def with_weights(refiner: Refiner, items: Sequence[Item], seed: int) -> list[Item]:
    """The documents with the refiner's link weights; the refiner sees them shuffled."""
    refiner.eval()
    device = device_of(refiner)
    return weighted_by(lambda drawn: refiner(drawn.collated(device)[0]).weights, items, seed)


@torch.inference_mode()
def weighted_by(weights_of: Callable[[Drawn], Tensor], items: Sequence[Item], seed: int) -> list[Item]:
    """The documents, each as it was shuffled, with the weights that their links were given then."""
    by_length = sorted(range(len(items)), key=lambda number: items[number].graph.sentences)
    weighted: dict[int, Item] = {}
    place = 0
    batches = shuffled_batches(items, derived(seed, "weights") % 2**31)
    sizes = [linked_pairs(drawn.items) for drawn in batches]
    found = divided(sizes, lambda number: weights_of(batches[number]).cpu())
    for drawn, part_of_all in zip(batches, found, strict=True):
        weights = part_of_all.numpy().astype(np.float32)
        counts = [item.graph.pairs.shape[1] for item in drawn.items]
        for item, order, part in zip(drawn.items, drawn.orders, np.split(weights, np.cumsum(counts)[:-1]), strict=True):
            graph = replace(item.graph, weights=part).permuted(order)
            weighted[by_length[place]] = replace(item.permuted(order), graph=graph)
            place += 1
    return [weighted[number] for number in range(len(items))]
