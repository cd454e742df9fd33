"""Losses of the future and history modules besides that of the order (Yin et al., AAAI 2020)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from unshuffle.decode.contracts import Gold
from unshuffle.decode.pairs.vectors import PairVectors
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.segments import scatter_sum

Average = Literal["document", "choice"]


def future_loss(future: PairVectors, graph: GraphBatch, gold: Gold, average: Average) -> Tensor:
    """Whether the first comes after the other, over all ordered pairs."""
    one, other = gold.position[future.pairs]
    return _mean(future, one > other, torch.ones_like(one, dtype=torch.bool), graph, average)


def history_loss(history: PairVectors, distance: int, graph: GraphBatch, gold: Gold, average: Average) -> Tensor:
    """Whether the other comes right before the first, or two positions before it.

    Per first sentence: the other at that distance and one negative, drawn by torch's global generator from the rest of
    those before it; later ones are never used.
    """
    one, other = gold.position[history.pairs]
    gap = one - other
    right = gap == distance
    draw = torch.rand(len(one), device=one.device).masked_fill(right | (gap < 1), -1.0)
    best = draw.new_full((graph.sentences,), 0.0).scatter_reduce(0, history.pairs[0], draw, "amax")
    return _mean(history, right, right | (draw == best[history.pairs[0]]), graph, average)


def _mean(predicted: PairVectors, truth: Tensor, used: Tensor, graph: GraphBatch, average: Average) -> Tensor:
    """Summed over a document's pairs and divided by its sentences, or averaged over its pairs; mean over documents."""
    losses = functional.cross_entropy(predicted.logits, truth.long(), reduction="none") * used
    document = graph.document_of_sentence[predicted.pairs[0]]
    total = scatter_sum(losses, document, graph.documents)
    count = graph.sizes if average == "document" else torch.bincount(document[used], minlength=graph.documents)
    return (total / count.clamp_min(1)).mean()
