"""Ordered sentence pairs for future and history keys: vectors and losses (Yin et al., 2020; Cui et al., 2020)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from unshuffle.decode.contracts import Gold
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import scatter_sum

MODULES = 3
"""Future, history 1 and history 2, in this order."""
Average = Literal["document", "choice"]


@dataclass(frozen=True, slots=True)
class PairVectors:
    """One module's output for some ordered pairs."""

    pairs: Tensor  # (2, pairs) candidate and other sentence, by flat number
    vectors: Tensor  # (pairs, vector width) the network's vector and its two probabilities
    logits: Tensor  # (pairs, 2) no, yes


class PairNetworks(nn.Module):
    """Three separate networks of the same form: [one; other] -> twice the width -> pair width -> yes or no.

    First layers are split per sentence (W [x; y] = Wx x + Wy y) and stacked for all three, so that only the second
    layer onwards grows with the number of pairs.
    """

    def __init__(self, *, width: int, pair_width: int, dropout: float) -> None:
        super().__init__()
        self.width = pair_width + 2
        self.from_one = nn.Linear(width, MODULES * 2 * width, bias=False)
        self.from_other = nn.Linear(width, MODULES * 2 * width, bias=False)
        self.second = nn.ModuleList(nn.Linear(2 * width, pair_width, bias=False) for _ in range(MODULES))
        self.heads = nn.ModuleList(nn.Linear(pair_width, 2, bias=False) for _ in range(MODULES))
        self.dropout = Dropout(dropout)

    def forward(self, sentences: Tensor, pairs: Sequence[Tensor]) -> list[PairVectors]:
        """(sentences, width) and the (2, pairs) to score by each module."""
        (vectors,) = self.portions(sentences, [pairs])
        return vectors

    def portions(self, sentences: Tensor, portions: Iterable[Sequence[Tensor]]) -> Iterator[list[PairVectors]]:
        """The same for one portion of pairs after another; first layers are computed once for all."""
        ones = self.from_one(sentences).chunk(MODULES, 1)
        others = self.from_other(sentences).chunk(MODULES, 1)
        for portion in portions:
            parts = zip(ones, others, portion, strict=True)
            yield [self._module(number, *part) for number, part in enumerate(parts)]

    def _module(self, number: int, one: Tensor, other: Tensor, pairs: Tensor) -> PairVectors:
        hidden = self.dropout(functional.relu(one[pairs[0]] + other[pairs[1]]))  # (pairs, 2 width)
        vectors = self.dropout(functional.relu(self.second[number](hidden)))
        logits = self.heads[number](vectors)
        return PairVectors(pairs, torch.cat([vectors, logits.softmax(1)], 1), logits)


class EncodedPairs(nn.Module):
    """A pair encoder's vectors, one for all three modules, and one head that predicts whether the first comes later."""

    def __init__(self, *, width: int, dropout: float) -> None:
        super().__init__()
        self.width = width + 2
        self.head = nn.Linear(width, 2)
        self.dropout = Dropout(dropout)

    def forward(self, encoded: Tensor, pairs: Tensor) -> PairVectors:
        """(ordered pairs, width) in the layout of `graph.pairs.ordered_pairs`."""
        vectors = self.dropout(encoded)
        logits = self.head(vectors)
        return PairVectors(pairs, torch.cat([vectors, logits.softmax(1)], 1), logits)


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
