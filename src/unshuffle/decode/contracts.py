"""What a decoder takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.parts.registry import Registry


@dataclass(frozen=True, slots=True)
class Gold:
    """The true order of the documents of a batch; only losses see it."""

    place: Tensor  # (sentences,) at which place of its document's true order each sentence stands

    @classmethod
    def of(cls, orders: list[list[int]]) -> Gold:
        """From each document's input indices in true order."""
        place = [torch.argsort(torch.tensor(order)) for order in orders]
        return cls(torch.cat(place))

    def flat_order(self, graph: GraphBatch) -> Tensor:
        """(sentences,) flat sentence numbers, document by document, each in true order."""
        return torch.argsort(graph.first_sentence[graph.document_of_sentence] + self.place)


@dataclass(frozen=True, slots=True)
class Found:
    """The best orders of one document, best first."""

    orders: tuple[tuple[int, ...], ...]
    log_probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """How to look for the best order."""

    beam: int = 64
    keep: int = 1
    """How many orders to give back; 1 allows hopeless ones to be dropped early."""
    allowed: Allowed | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """Which orders may be given at all; made from users' constraints by `allowed.allowed_orders`."""

    before: Tensor  # (documents, longest, longest) whether the row's sentence must come before the column's
    places: Tensor  # (documents, longest, longest) whether the column's sentence may stand at the row's place


class Decoder(Protocol):
    """Reads orders off states; one order a document."""

    order_sensitive: bool

    def loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """One number to be made small."""
        ...

    def search(self, states: States, graph: GraphBatch, search: Search) -> list[Found]:
        """The best orders of each document."""
        ...

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """(sentences,) log-probability of each choice of a given order, laid out as `Gold.flat_order`."""
        ...


decoders: Registry[Decoder] = Registry("decoder")
