"""A score of every sentence for every place, made an order by the best assignment (NAON, Findings of EMNLP 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn

from unshuffle.decode.contracts import Found, Gold, Search, decoders
from unshuffle.decode.search.allowed import constraints_of
from unshuffle.decode.search.beam import beam_search
from unshuffle.decode.search.content import content_keys, content_ranks
from unshuffle.decode.search.follow import Followed
from unshuffle.decode.search.tables import TableMemory, led_by, order_log_probability
from unshuffle.decode.search.walk import Stepwise
from unshuffle.decode.transformer.blocks import PrefixDecoder, ResidualBlock, place_codes
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch, padded, present
from unshuffle.parts.config import PartConfig
from unshuffle.rank.positions import by_positions


@dataclass(frozen=True, kw_only=True)
class PositionsConfig(PartConfig):
    """Place queries over the sentences of a document."""

    width: Annotated[int, Ge(1)] = 256
    layers: Annotated[int, Ge(1)] = 1
    heads: Annotated[int, Ge(1)] = 8
    hidden: Annotated[int, Ge(1)] = 1024
    """Width of the feed-forward layers."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    exclusive_weight: Annotated[float, Ge(0)] = 1.0
    """Weight of the loss over columns, which asks for one place a sentence."""


@decoders.register("positions", PositionsConfig)
class Positions(Stepwise):
    """Place codes, from the start and from the end, attend to the sentences and point at one each, all at once.

    The order is the assignment with the highest sum (Hungarian method). Its probability is that of choosing place by
    place among the sentences not yet used, which is normalised over all orders.
    """

    def __init__(self, config: PositionsConfig, *, width: int, encoded_width: int, pair_width: int = 0) -> None:
        super().__init__()
        self.config = config
        self.read = nn.Linear(width, config.width)
        self.from_end = nn.Linear(config.width, config.width, bias=False)
        self.places = PrefixDecoder(
            ResidualBlock(width=config.width, heads=config.heads, hidden=config.hidden, dropout=config.dropout)
            for _ in range(config.layers)
        )
        self.query = nn.Linear(config.width, config.width)
        self.key = nn.Linear(config.width, config.width)

    def table(self, states: States, graph: GraphBatch) -> Tensor:
        """(documents, longest, longest) logits by place and sentence; what is absent keeps any value."""
        rows = padded(self.read(states.sentences), graph)
        there = present(graph)
        codes = place_codes(there.shape[1], rows)  # (longest, width)
        step = torch.arange(there.shape[1], device=there.device)
        left = (graph.sizes[:, None] - 1 - step).clamp_min(0)  # (documents, longest)
        queries = codes + self.from_end(codes)[left]
        # Places see each other whatever their order, but none behind the document's last.
        among = there[:, None, None]  # (documents, 1, 1, longest)
        found = self.places(queries, self.places.look(rows), seen_mask=among, own_mask=among).outputs
        logits: Tensor = self.query(found) @ self.key(rows).transpose(1, 2) / self.config.width**0.5
        return logits

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Log-probability of each choice, place by place, among the sentences not yet used."""
        followed = Followed.of(graph, gold)
        return followed.log_probabilities(self.table(states, graph)[followed.document, followed.step])

    def loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Cross-entropy of each place's sentence and of each sentence's place, summed over a document."""
        followed = Followed.of(graph, gold)
        there = present(graph)
        table = self.table(states, graph)
        where = followed.document, followed.step, followed.target
        rows = torch.log_softmax(table.masked_fill(~there[:, None], -torch.inf), 2)[where]
        columns = torch.log_softmax(table.masked_fill(~there[:, :, None], -torch.inf), 1)[where]
        return -(rows + self.config.exclusive_weight * columns).sum() / graph.documents

    def memory(self, states: States, graph: GraphBatch) -> TableMemory:
        """A row of scores a step."""
        return TableMemory(self.table(states, graph))

    def search(self, states: States, graph: GraphBatch, search: Search) -> list[Found]:
        """The best assignment of each document; further orders by beam search."""
        memory = self.memory(states, graph)
        table = memory.table
        sizes = graph.sizes.tolist()
        others: list[Found | None] = [None] * len(sizes)
        if search.keep > 1:
            others[:] = beam_search(memory, graph.sizes, search, content_ranks(states, graph))
        keys = content_keys(states).cpu().tensor_split(graph.first_sentence.tolist()[1:])
        found = []
        for document, (size, key, more) in enumerate(zip(sizes, keys, others, strict=True)):
            scores = table[document, :size, :size].detach()
            rules = constraints_of(search.allowed, document, size)
            order = by_positions(scores.t().cpu().double().numpy(), constraints=rules, tie_key=key.numpy()).order
            found.append(led_by(order, order_log_probability(scores, order), more, search.keep))
        return found
