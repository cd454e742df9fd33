"""Chances that one sentence precedes another, made an order by a ranker (Chen et al., 2016; Prabhumoye et al., 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn
from torch.nn import functional

from unshuffle.decode.allowed import constraints_of
from unshuffle.decode.beam import beam_search
from unshuffle.decode.content import content_keys, content_ranks
from unshuffle.decode.contracts import Allowed, Found, Gold, Search, decoders
from unshuffle.decode.orders import PairMemory, choice_log_probabilities
from unshuffle.decode.pair_scores import PAIR_SCORES, Network, PairScore
from unshuffle.decode.tables import led_by
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.rank.best import Method, rank
from unshuffle.rank.kemeny import LARGEST, best_by_kemeny
from unshuffle.rank.ranking import FloatArray, log_weights


@dataclass(frozen=True, kw_only=True)
class PairMatrixConfig:
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
class PairMatrix(nn.Module):
    """Asks about every pair both ways, averages, and ranks.

    An order's probability is its share when every order weighs the product of its pairs' chances, whichever ranker
    chose it; above 14 sentences an approximation (see `orders`).
    """

    order_sensitive = False

    def __init__(self, config: PairMatrixConfig, *, width: int, encoded_width: int, pair_width: int = 0) -> None:
        super().__init__()
        self.config = config
        self.pair_score: PairScore = PAIR_SCORES[config.network](
            width=width,
            pair_width=pair_width,
            hidden=config.hidden or width,
            dropout=config.dropout,
            activation=config.activation,
        )

    def logits(self, states: States, graph: GraphBatch) -> Tensor:
        """(documents, longest, longest) that the row's sentence precedes the column's."""
        return self.pair_score(states, graph)

    def loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Cross-entropy, the mean over all ordered pairs of the batch."""
        place = torch.full((graph.documents, int(graph.sizes.max())), -1, device=gold.place.device)
        number = _numbers(graph)
        place[graph.document_of_sentence, number] = gold.place
        there = (place >= 0)[:, :, None] & (place >= 0)[:, None] & ~torch.eye(place.shape[1], device=place.device).bool()
        first = (place[:, :, None] < place[:, None]).to(states.sentences.dtype)
        wrong = functional.binary_cross_entropy_with_logits(self.logits(states, graph), first, reduction="none")
        return (wrong * there).sum() / there.sum().clamp_min(1)

    def probabilities(self, states: States, graph: GraphBatch) -> list[FloatArray]:
        """(sentences, sentences) of each document: the mean of p(i before j) and 1 - p(j before i)."""
        chance = self.logits(states, graph).double().sigmoid()
        both = (0.5 + 0.5 * (chance - chance.transpose(1, 2))).detach().cpu().numpy()
        return [both[document, :size, :size] for document, size in enumerate(graph.sizes.tolist())]

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Log-probability of each choice of a given order."""
        order = (gold.flat_order(graph) - graph.first_sentence[graph.document_of_sentence]).split(graph.sizes.tolist())
        chosen = [
            choice_log_probabilities(log_weights(_symmetric(probability)), some.tolist())
            for probability, some in zip(self.probabilities(states, graph), order, strict=True)
        ]
        return torch.from_numpy(np.concatenate(chosen)).to(states.sentences)

    def search(self, states: States, graph: GraphBatch, search: Search) -> list[Found]:
        """The ranker's order of each document; further ones are the next best by their probability."""
        probabilities = self.probabilities(states, graph)
        keys = content_keys(states).cpu().split(graph.sizes.tolist())
        found = []
        for document, (probability, key) in enumerate(zip(probabilities, keys, strict=True)):
            rules = constraints_of(search.allowed, document, len(probability))
            order = rank(probability, self.config.method, constraints=rules, tie_key=key.numpy()).order
            weight = log_weights(_symmetric(probability))
            others = None
            if search.keep > 1 and len(probability) <= LARGEST:
                best = best_by_kemeny(probability, search.keep, constraints=rules, tie_key=key.numpy())
                orders = tuple(ranking.order for ranking in best)
                values = tuple(float(choice_log_probabilities(weight, list(some)).sum()) for some in orders)
                others = Found(orders, values)
            elif search.keep > 1:
                others = self._beam(weight, document, search, content_ranks(states, graph))
            value = float(choice_log_probabilities(weight, list(order)).sum())
            found.append(led_by(order, value, others, search.keep))
        return found

    def _beam(self, weight: FloatArray, document: int, search: Search, content: Tensor) -> Found:
        size = len(weight)
        allowed = search.allowed
        if allowed is not None:
            here = slice(document, document + 1)
            allowed = Allowed(allowed.before[here, :size, :size], allowed.places[here, :size, :size])
        memory = PairMemory(torch.from_numpy(weight).to(content.device)[None])
        alone = Search(search.beam, search.keep, allowed)
        return beam_search(memory, torch.tensor([size], device=content.device), alone, content[document, None, :size])[0]
