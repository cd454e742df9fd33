"""One score per sentence, highest first (Kumar et al., AAAI 2020: RankTxNet; Zhu et al., AAAI 2021: ConsGraph)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn
from torch.nn import functional

from unshuffle.decode.contracts import GivenOrders, Gold, decoders
from unshuffle.decode.search import Stepwise, TableMemory, beam_search, content_ranks, order_log_probability
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch, ordered_pairs
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import pad_documents, scatter_sum
from unshuffle.parts.registry import PartConfig
from unshuffle.search.contracts import Found, Search


@dataclass(frozen=True, kw_only=True)
class ScoresConfig(PartConfig):
    """Scores and their loss; listwise was best in the paper."""

    hidden: Annotated[int, Ge(0)] = 0
    """Width of the hidden layer; 0 takes the width of the sentence states."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    loss: Literal["listwise", "logistic", "hinge", "regression"] = "listwise"
    """ListMLE over the whole order; logistic or hinge over pairs; squared error of the position."""
    margin: Annotated[float, Ge(0)] = 1.0
    """By how much an earlier sentence should lead, for `hinge`."""


@decoders.register("scores", ScoresConfig)
class Scores(Stepwise):
    """Sorts by score; orders have Plackett-Luce probabilities, whichever loss trained the scores."""

    def __init__(self, config: ScoresConfig, *, width: int, encoded_width: int, pair_width: int = 0) -> None:
        super().__init__()
        self.config = config
        hidden = config.hidden or width
        self.score = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), Dropout(config.dropout), nn.Linear(hidden, 1))

    def scores(self, states: States) -> Tensor:
        """(sentences,)."""
        scores: Tensor = self.score(states.sentences).squeeze(1)
        return scores

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Log-probability of each choice: the softmax over the sentences that are left."""
        given = GivenOrders.of(graph, gold)
        return given.log_probabilities(pad_documents(self.scores(states), graph)[given.document])

    def loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """The configured loss, summed over a document's choices or averaged over its pairs or sentences."""
        if self.config.loss == "listwise":
            return -self.transitions(states, graph, gold).sum() / graph.documents
        scores = self.scores(states)
        document = graph.document_of_sentence
        if self.config.loss == "regression":
            last = (graph.sizes - 1).clamp_min(1)[document]
            target = torch.where(graph.sizes[document] > 1, 1 - 2 * gold.position / last, 0.0)
            wrong = (scores - target.to(scores.dtype)) ** 2  # positions spread from 1, the first, to -1
            return (scatter_sum(wrong, document, graph.documents) / graph.sizes).mean()
        pairs = ordered_pairs(graph)
        first, second = pairs[:, gold.position[pairs[0]] < gold.position[pairs[1]]]
        lead = scores[first] - scores[second]
        wrong = functional.softplus(-lead) if self.config.loss == "logistic" else (self.config.margin - lead).relu()
        count = (graph.sizes * (graph.sizes - 1) // 2).clamp_min(1)
        return (scatter_sum(wrong, document[first], graph.documents) / count).mean()

    def memory(self, states: States, graph: GraphBatch) -> TableMemory:
        """The same scores at every step."""
        return TableMemory(pad_documents(self.scores(states), graph)[:, None])  # (documents, 1, longest)

    def search(self, states: States, graph: GraphBatch, search: Search) -> list[Found]:
        """By decreasing score; several orders, or orders under constraints, by beam search."""
        memory, content = self.memory(states, graph), content_ranks(states, graph)
        if search.keep > 1 or search.allowed is not None:
            return beam_search(memory, graph.sizes, search, content)
        table = memory.table
        by_content = torch.from_numpy(content.argsort(1)).to(table.device)
        sorted_scores = table[:, 0].gather(1, by_content).argsort(dim=1, descending=True, stable=True)
        wanted = by_content.gather(1, sorted_scores)
        found = []
        for row, order, size in zip(table, wanted.tolist(), graph.sizes.tolist(), strict=True):
            some = tuple(sentence for sentence in order if sentence < size)
            found.append(Found((some,), (order_log_probability(row, some),)))
        return found
