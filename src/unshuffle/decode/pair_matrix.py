"""Chances that one sentence precedes another, ranked into an order (Chen et al., 2016; Prabhumoye et al., 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
import torch
from annotated_types import Ge, Lt
from torch import Tensor
from torch.nn import functional

from unshuffle.decode.contracts import Choices, Decoder, GivenOrders, Gold, decoders
from unshuffle.decode.pairs.orders import OrderDistribution, PairMemory
from unshuffle.decode.pairs.scores import Network, pair_score
from unshuffle.decode.search import beam_search, content_keys, with_first
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.parts.registry import PartConfig
from unshuffle.rank.arrange import row_order
from unshuffle.rank.best import Method, rank
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.kemeny import LARGEST, best_by_kemeny
from unshuffle.rank.ranking import FloatArray
from unshuffle.search.contracts import Allowed, Found, Search, constraints_of


@dataclass(frozen=True, kw_only=True)
class PairMatrixConfig(PartConfig):
    """Pair network and ranker."""

    network: Network = "mlp"
    """`mlp`: [a; b] -> hidden -> logit (Chen16, L-TSort); `classifier`: the refiner's head (Lai et al., 4.2);
    `antisymmetric`: W sin(a - b) (STaCK); `encoded`: linear on a pair encoder's vectors (B-TSort)."""
    hidden: Annotated[int, Ge(0)] = 0
    """Width of hidden layers; 0 takes the width of the sentence states."""
    activation: Literal["tanh", "relu"] = "tanh"
    """Of the `mlp`."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    method: Method = "kemeny"
    """Which ranker; `kemeny` is exact for up to 14 sentences and `eades` beyond."""


@decoders.register("pair_matrix", PairMatrixConfig)
class PairMatrix(Decoder):
    """Scores every pair in both directions, averages, and ranks.

    An order's probability is its share when every order weighs the product of its pairs' chances, whichever ranker
    chose it; above 14 sentences an approximation (see `OrderDistribution`).
    """

    def __init__(self, config: PairMatrixConfig, *, width: int, encoded_width: int, pair_width: int = 0) -> None:
        super().__init__()
        self.config = config
        self.pair_score = pair_score(
            config.network,
            width=width,
            pair_width=pair_width,
            hidden=config.hidden or width,
            dropout=config.dropout,
            activation=config.activation,
        )

    def logits(self, states: States, graph: GraphBatch) -> Tensor:
        """(documents, longest, longest) that the row's sentence precedes the column's."""
        logits: Tensor = self.pair_score(states, graph)
        return logits

    def loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Cross-entropy, the mean over all ordered pairs of the batch."""
        position = GivenOrders.of(graph, gold).position  # (documents, longest), -1 where there is no sentence
        one, other = position[:, :, None], position[:, None]
        there = (one >= 0) & (other >= 0) & (one != other)
        first = (one < other).to(states.sentences.dtype)
        wrong = functional.binary_cross_entropy_with_logits(self.logits(states, graph), first, reduction="none")
        return (wrong * there).sum() / there.sum().clamp_min(1)

    def probabilities(self, states: States, graph: GraphBatch) -> list[FloatArray]:
        """(sentences, sentences) of each document: the mean of p(i before j) and 1 - p(j before i)."""
        chance = self.logits(states, graph).detach().double().sigmoid()
        both = (0.5 + 0.5 * (chance - chance.transpose(1, 2))).cpu().numpy()
        return [both[document, :size, :size] for document, size in enumerate(graph.sizes.tolist())]

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Log-probability of each choice of a given order; no gradient flows through it."""
        orders = GivenOrders.of(graph, gold).target.tensor_split(graph.first_sentence.tolist()[1:])
        probabilities = self.probabilities(states, graph)
        chosen = [
            OrderDistribution(probability).choices(order.tolist())
            for probability, order in zip(probabilities, orders, strict=True)
        ]
        return torch.from_numpy(np.concatenate(chosen)).to(states.sentences)

    def loss_units(self, sizes: Sequence[int]) -> int:
        """Ordered pairs."""
        return sum(size * (size - 1) for size in sizes)

    def choices(self, states: States, graph: GraphBatch) -> Choices:
        """One distribution over all orders serves every order."""
        distribution = OrderDistribution(self.probabilities(states, graph)[0])
        return lambda orders: np.array([distribution.choices(order) for order in orders]).reshape(len(orders), -1)

    def search(self, states: States, graph: GraphBatch, search: Search) -> list[Found]:
        """The ranker's order of each document; further ones are the next best by probability."""
        keys = np.split(content_keys(states), graph.first_sentence.tolist()[1:])
        return [
            self._rank(probability, key, document, search)
            for document, (probability, key) in enumerate(zip(self.probabilities(states, graph), keys, strict=True))
        ]

    def _rank(self, probability: FloatArray, key: FloatArray, document: int, search: Search) -> Found:
        rules = constraints_of(search.allowed, document, len(probability))
        order = rank(probability, self.config.method, constraints=rules, tie_key=key).order
        distribution = OrderDistribution(probability)
        others = None
        if search.keep > 1 and len(probability) <= LARGEST:
            if search.copies is not None:  # only here, where the ranker is exact: a heuristic would be led astray
                before = (*(rules.before if rules else ()), *search.copies.pairs(document))
                rules = replace(rules or Constraints(), before=before)
            best = best_by_kemeny(probability, search.keep, constraints=rules, tie_key=key)
            orders = tuple(ranking.order for ranking in best)
            others = Found(orders, tuple(distribution.log_probability(some) for some in orders))
        elif search.keep > 1:
            others = _next_best(distribution, key, document, search)
        return with_first(order, distribution.log_probability(order), others, search.keep)


def _next_best(distribution: OrderDistribution, key: FloatArray, document: int, search: Search) -> Found:
    """Beam search where there are too many sentences to enumerate subsets."""
    size = len(key)
    allowed = search.allowed
    if allowed is not None:
        allowed = Allowed(*(part[document, None, :size, :size] for part in (allowed.before, allowed.positions)))
    content = np.argsort(row_order(key[:, None]))
    memory = PairMemory(torch.from_numpy(distribution.weight)[None])
    copies = None if search.copies is None else search.copies.alone(document, size)
    alone = Search(beam=search.beam, keep=search.keep, allowed=allowed, copies=copies)
    return beam_search(memory, torch.tensor([size]), alone, content[None])[0]
