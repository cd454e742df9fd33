"""What decoders that generate an order with a transformer have in common: given orders in one pass, search by beam."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from unshuffle.decode.contracts import GivenOrders, Gold
from unshuffle.decode.search import Stepwise, TensorMemory, TensorPrefix, beam_search, content_ranks, select_sentences
from unshuffle.decode.transformer.blocks import KeyValues, PrefixDecoder
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.search.contracts import Found, Search

Score = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class PrefixState:
    """The last state of each partial order, and the keys and values of its blocks."""

    output: Tensor  # (rows, width)
    past: tuple[KeyValues, ...]


class PrefixMemory:
    """Sentences as the blocks attend to them, and as inputs once they have been chosen."""

    def __init__(
        self,
        decoder: PrefixDecoder,
        *,
        start: Tensor,
        inputs: Tensor,
        sentences: Tensor,
        present: Tensor,
        codes: Tensor,
        score: Score,
    ) -> None:
        self.decoder = decoder
        self.start = start  # (width,)
        self.inputs = inputs  # (documents, longest, width)
        self.seen = decoder.look(sentences)
        self.mask = present[:, None, None]  # (documents, 1, 1, longest)
        self.codes = codes  # (longest, width) added to the input of each step
        self.score = score

    def begin(self) -> PrefixState:
        """Only the start has been read."""
        inputs = (self.start + self.codes[0]).expand(len(self.inputs), 1, -1)
        read = self.decoder(inputs, self.seen, seen_mask=self.mask)
        return PrefixState(read.outputs[:, -1], read.past)

    def advance(self, carry: PrefixState, parent: Tensor, document: Tensor, choice: Tensor) -> PrefixState:
        """Reads the sentence that was chosen."""
        step = carry.past[0].keys.shape[2]
        inputs = (select_sentences(self.inputs, document, choice) + self.codes[step])[:, None]
        past = tuple(some.rows(parent) for some in carry.past)
        seen = tuple(some.rows(document) for some in self.seen)
        read = self.decoder(inputs, seen, seen_mask=self.mask[document], past=past)
        return PrefixState(read.outputs[:, -1], read.past)

    def logits(self, carry: PrefixState, prefix: TensorPrefix) -> Tensor:
        """(rows, longest)."""
        return self.score(carry.output, prefix.document)

    def follow(self, given: GivenOrders) -> Tensor:
        """(sentences, longest) score of every sentence at every choice of a given order."""
        documents, longest = self.inputs.shape[:2]
        order = given.target.new_zeros(documents, longest)
        order[given.document, given.step] = given.target
        rows = torch.arange(documents, device=order.device)[:, None]
        inputs = torch.cat([self.start.expand(documents, 1, -1), self.inputs[rows, order[:, :-1]]], 1) + self.codes
        earlier = torch.ones(longest, longest, dtype=torch.bool, device=order.device).tril()[None, None]
        read = self.decoder(inputs, self.seen, seen_mask=self.mask, own_mask=earlier).outputs
        return self.score(read[given.document, given.step], given.document)


class GeneratorMemory(TensorMemory[Any], Protocol):
    """A beam search's memory that can also score all choices of given orders at once."""

    def follow(self, given: GivenOrders, /) -> Tensor:
        """(sentences, longest) score of every sentence at every choice."""
        ...


class Generator(Stepwise):
    """Chooses sentence after sentence; a subclass says from what memory."""

    def memory(self, states: States, graph: GraphBatch) -> GeneratorMemory:
        """Everything that does not depend on what has been chosen."""
        raise NotImplementedError

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Log-probability of each choice of a given order among the sentences not yet chosen."""
        given = GivenOrders.of(graph, gold)
        return given.log_probabilities(self.memory(states, graph).follow(given))

    def loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Negative log-likelihood of the true order, per document."""
        return -self.transitions(states, graph, gold).sum() / graph.documents

    def search(self, states: States, graph: GraphBatch, search: Search) -> list[Found]:
        """Beam search over all documents at once."""
        return beam_search(self.memory(states, graph), graph.sizes, search, content_ranks(states, graph))
