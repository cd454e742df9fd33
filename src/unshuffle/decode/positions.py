"""A score for every sentence at every position, made an order by the best assignment (Bin et al., 2023: NAON)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn

from unshuffle.decode.contracts import GivenOrders, Gold, decoders
from unshuffle.decode.search import (
    Stepwise,
    TableMemory,
    beam_search,
    content_keys,
    content_ranks,
    order_log_probability,
    with_first,
)
from unshuffle.decode.transformer.blocks import PrefixDecoder, ResidualBlock, position_codes
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.segments import pad_documents, sentence_mask
from unshuffle.parts.registry import PartConfig
from unshuffle.rank.positions import by_positions
from unshuffle.search.contracts import Found, Search, constraints_of


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
    """Weight of the exclusive loss, which asks that each sentence is chosen at one position only."""


@decoders.register("positions", PositionsConfig)
class Positions(Stepwise):
    """Codes of all positions attend to each other and to the sentences, then each points at one, all in parallel.

    The order is the assignment with the highest sum (Hungarian method), where NAON goes through the positions greedily.
    Its probability is that of choosing position by position among the sentences not yet used, which is normalised over
    all orders.
    """

    def __init__(self, config: PositionsConfig, *, width: int, encoded_width: int, pair_width: int = 0) -> None:
        super().__init__()
        self.config = config
        self.read = nn.Linear(width, config.width)
        self.place = nn.Linear(config.width, config.width)
        self.places = PrefixDecoder(
            ResidualBlock(width=config.width, heads=config.heads, hidden=config.hidden, dropout=config.dropout)
            for _ in range(config.layers)
        )
        self.query = nn.Linear(config.width, config.width)
        self.key = nn.Linear(encoded_width, config.width)
        self.score = nn.Linear(config.width, 1, bias=False)

    def table(self, states: States, graph: GraphBatch) -> Tensor:
        """(documents, longest, longest) logits by position and sentence; padding has arbitrary values."""
        sentences = pad_documents(self.read(states.sentences), graph)
        keys = pad_documents(self.key(states.encoded.sentences), graph)
        mask = sentence_mask(graph)[:, None, None]  # (documents, 1, 1, longest): positions see each other, not padding
        codes = self.place(position_codes(sentences.shape[1], sentences)).expand_as(sentences)
        found = self.places(codes, self.places.look(sentences), seen_mask=mask, own_mask=mask).outputs
        logits: Tensor = self.score(torch.tanh(self.query(found)[:, :, None] + keys[:, None])).squeeze(3)
        return logits

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Log-probability of each choice, position by position, among the sentences not yet used."""
        given = GivenOrders.of(graph, gold)
        return given.log_probabilities(self.table(states, graph)[given.document, given.step])

    def loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Cross-entropy of each position's sentence plus that of each sentence's position, the exclusive loss.

        The released program leaves sentences of earlier positions out of the first, as suits its greedy choice. The
        best assignment compares whole rows and columns, so both are over all sentences and positions here.
        """
        given = GivenOrders.of(graph, gold)
        there = sentence_mask(graph)
        table = self.table(states, graph)
        chosen = given.document, given.step, given.target
        rows = torch.log_softmax(table.masked_fill(~there[:, None], -torch.inf), 2)[chosen]
        columns = torch.log_softmax(table.masked_fill(~there[:, :, None], -torch.inf), 1)[chosen]
        return -(rows + self.config.exclusive_weight * columns).sum() / graph.documents

    def memory(self, states: States, graph: GraphBatch) -> TableMemory:
        """A row of scores per step."""
        return TableMemory(self.table(states, graph))

    def search(self, states: States, graph: GraphBatch, search: Search) -> list[Found]:
        """The best assignment of each document; further orders by beam search."""
        memory = self.memory(states, graph)
        table = memory.table
        sizes = graph.sizes.tolist()
        others: list[Found | None] = [None] * len(sizes)
        if search.keep > 1:
            others[:] = beam_search(memory, graph.sizes, search, content_ranks(states, graph))
        keys = np.split(content_keys(states), graph.first_sentence.tolist()[1:])
        found = []
        for document, (size, key, more) in enumerate(zip(sizes, keys, others, strict=True)):
            scores = table[document, :size, :size].detach()
            rules = constraints_of(search.allowed, document, size)
            order = by_positions(scores.t().cpu().double().numpy(), constraints=rules, tie_key=key).order
            found.append(with_first(order, order_log_probability(scores, order), more, search.keep))
        return found
