"""Given orders as one row per choice, so that a step-by-step decoder can score all choices at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unshuffle.decode.contracts import Gold
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.padding import pad_documents


@dataclass(frozen=True, slots=True)
class Options:
    """Every choice with every sentence that is still left, the chosen one first; nothing is padded."""

    choice: Tensor  # (options,)
    place: Tensor  # (options,) place of the sentence in the given order, documents end to end
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
    place: Tensor  # (documents, longest) place of each sentence; -1 where there is none
    left: Tensor  # (sentences,) how many are left at each choice, the chosen one included

    @classmethod
    def of(cls, graph: GraphBatch, gold: Gold) -> GivenOrders:
        """The orders of a batch."""
        order, document = gold.flat_order(graph), graph.document_of_sentence
        first = graph.first_sentence[document]
        step = torch.arange(len(order), device=order.device) - first
        place = pad_documents(gold.place[:, None] + 1, graph).squeeze(-1) - 1
        return cls(order, document, step, order - first, place, graph.sizes[document] - step)

    def log_probabilities(self, logits: Tensor) -> Tensor:
        """(sentences, longest) score of every sentence at every choice -> (sentences,) of the chosen one."""
        used = self.place[self.document] < self.step[:, None]  # padding too, whose place is -1
        log_probability = torch.log_softmax(logits.masked_fill(used, -torch.inf), 1)
        return log_probability.gather(1, self.target[:, None]).squeeze(1)

    def options(self) -> Options:
        """Choices paired with what is left; in a full table half of the cells would be sentences already used."""
        choices = torch.arange(len(self.left), device=self.left.device)
        choice = choices.repeat_interleave(self.left)
        number = torch.arange(len(choice), device=choice.device) - (self.left.cumsum(0) - self.left)[choice]
        return Options(choice, choice + number, number)
