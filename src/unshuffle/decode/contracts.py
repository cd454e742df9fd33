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
from unshuffle.layers.segments import pad_documents
from unshuffle.parts.registry import PartConfig, Registry
from unshuffle.search.contracts import Found, Search


@dataclass(frozen=True, slots=True)
class Gold:
    """The true order of the documents of a batch; only losses see it."""

    position: Tensor  # (sentences,) at which position of its document's true order each sentence stands

    @classmethod
    def of(cls, orders: Sequence[Sequence[int]]) -> Gold:
        """From each document's input indices in true order."""
        position = [torch.argsort(torch.tensor(order, dtype=torch.long)) for order in orders]
        return cls(torch.cat(position))

    def to(self, device: torch.device | str) -> Gold:
        """The same on another device."""
        return Gold(self.position.to(device))

    def flat_order(self, graph: GraphBatch) -> Tensor:
        """(sentences,) flat sentence numbers, document by document, each in true order."""
        return torch.argsort(graph.first_sentence[graph.document_of_sentence] + self.position)


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


@dataclass(frozen=True, slots=True)
class Options:
    """Every choice with every sentence that is still left, the chosen one first; nothing is padded."""

    choice: Tensor  # (options,)
    position: Tensor  # (options,) position of the sentence in the given order, documents end to end
    number: Tensor  # (options,) counted within its choice

    def log_probabilities(self, logits: Tensor) -> Tensor:
        """(options,) score of each -> (choices,) log-probability of the chosen one."""
        longest, choices = int(self.number.max()) + 1, int(self.choice[-1]) + 1
        table = logits.new_full((choices * longest,), -torch.inf)
        table = table.index_copy(0, self.choice * longest + self.number, logits)
        return torch.log_softmax(table.view(choices, longest), 1)[:, 0]


@dataclass(frozen=True, slots=True)
class GivenOrders:
    """Every choice of the given orders, document by document."""

    order: Tensor  # (sentences,) flat number of the sentence chosen
    document: Tensor  # (sentences,)
    step: Tensor  # (sentences,) how many were chosen before
    target: Tensor  # (sentences,) the sentence chosen, by its number in its document
    position: Tensor  # (documents, longest) position of each sentence; -1 where there is none
    left: Tensor  # (sentences,) how many are left at each choice, the chosen one included

    @classmethod
    def of(cls, graph: GraphBatch, gold: Gold) -> GivenOrders:
        """The orders of a batch."""
        order, document = gold.flat_order(graph), graph.document_of_sentence
        first = graph.first_sentence[document]
        step = torch.arange(len(order), device=order.device) - first
        position = pad_documents(gold.position[:, None] + 1, graph).squeeze(-1) - 1
        return cls(order, document, step, order - first, position, graph.sizes[document] - step)

    def log_probabilities(self, logits: Tensor) -> Tensor:
        """(sentences, longest) score of every sentence at every choice -> (sentences,) of the chosen one."""
        used = self.position[self.document] < self.step[:, None]  # padding too, whose position is -1
        log_probability = torch.log_softmax(logits.masked_fill(used, -torch.inf), 1)
        return log_probability.gather(1, self.target[:, None]).squeeze(1)

    def options(self) -> Options:
        """Choices paired with what is left; in a full table half of the cells would be sentences already used."""
        choices = torch.arange(len(self.left), device=self.left.device)
        choice = choices.repeat_interleave(self.left)
        number = torch.arange(len(choice), device=choice.device) - (self.left.cumsum(0) - self.left)[choice]
        return Options(choice, choice + number, number)
