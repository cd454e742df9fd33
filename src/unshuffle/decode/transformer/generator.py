"""What decoders have in common that generate an order with a transformer: given orders in one pass, search by beam."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor

from unshuffle.decode.contracts import GivenOrders, Gold
from unshuffle.decode.search import Stepwise, TensorMemory, beam_search, content_ranks
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.search.contracts import Found, Search


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
