"""What a decoder takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.parts.config import PartConfig
from unshuffle.parts.registry import Registry
from unshuffle.search.contracts import Found, Search


@dataclass(frozen=True, slots=True)
class Gold:
    """The true order of the documents of a batch; only losses see it."""

    place: Tensor  # (sentences,) at which place of its document's true order each sentence stands

    @classmethod
    def of(cls, orders: Sequence[Sequence[int]]) -> Gold:
        """From each document's input indices in true order."""
        place = [torch.argsort(torch.tensor(order, dtype=torch.long)) for order in orders]
        return cls(torch.cat(place))

    def to(self, device: torch.device | str) -> Gold:
        """The same on another device."""
        return Gold(self.place.to(device))

    def flat_order(self, graph: GraphBatch) -> Tensor:
        """(sentences,) flat sentence numbers, document by document, each in true order."""
        return torch.argsort(graph.first_sentence[graph.document_of_sentence] + self.place)


Choices = Callable[[Sequence[Sequence[int]]], NDArray[np.float64]]
"""Orders of one document -> (orders, sentences) log-probability of each of their choices."""


class Decoder(nn.Module):
    """Reads orders off states; one order per document."""

    order_sensitive: bool = False

    def loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """One number to be made small: a mean over documents, or over what `loss_units` counts."""
        raise NotImplementedError

    def loss_units(self, sizes: Sequence[int]) -> int:
        """Over how many things the loss of documents with so many sentences is a mean; documents unless overridden."""
        return len(sizes)

    def search(self, states: States, graph: GraphBatch, search: Search) -> list[Found]:
        """The best orders of each document."""
        raise NotImplementedError

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """(sentences,) log-probability of each choice of a given order, laid out as `Gold.flat_order`."""
        raise NotImplementedError

    def choices(self, states: States, graph: GraphBatch) -> Choices:
        """Scores any number of orders of the batch's only document; one at a time unless overridden."""

        def scored(orders: Sequence[Sequence[int]]) -> NDArray[np.float64]:
            rows = [
                self.transitions(states, graph, Gold.of([list(order)]).to(graph.sizes.device)).cpu().double().numpy()
                for order in orders
            ]
            return np.array(rows).reshape(len(orders), graph.sentences)

        return scored


decoders: Registry[Decoder] = Registry("decoder", Decoder, PartConfig)
