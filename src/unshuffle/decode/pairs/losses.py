"""What future and history modules are trained on besides the order itself (Yin et al., AAAI 2020)."""

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
    """Does the first come after the other? Asked about all ordered pairs."""
    one, other = gold.place[future.pairs]
    return _mean(future, one > other, torch.ones_like(one, dtype=torch.bool), graph, average)


def history_loss(history: PairVectors, distance: int, graph: GraphBatch, gold: Gold, average: Average) -> Tensor:
    """Does the other come right before the first, or two before it?

    Per first sentence: the other at that distance and one drawn by lot from the rest of those before it; later ones
    are never asked about. The lot comes from torch's global generator.
    """
    one, other = gold.place[history.pairs]
    apart = one - other
    right = apart == distance
    lot = torch.rand(len(one), device=one.device).masked_fill(right | (apart < 1), -1.0)
    best = lot.new_full((graph.sentences,), 0.0).scatter_reduce(0, history.pairs[0], lot, "amax")
    return _mean(history, right, right | (lot == best[history.pairs[0]]), graph, average)


def _mean(said: PairVectors, truth: Tensor, asked: Tensor, graph: GraphBatch, average: Average) -> Tensor:
    """Summed over a document's pairs and divided by its sentences, or averaged over its pairs; mean over documents."""
    wrong = functional.cross_entropy(said.logits, truth.long(), reduction="none") * asked
    document = graph.document_of_sentence[said.pairs[0]]
    total = scatter_sum(wrong, document, graph.documents)
    count = graph.sizes if average == "document" else torch.bincount(document[asked], minlength=graph.documents)
    return (total / count.clamp_min(1)).mean()
