"""A given order, one row a choice: what every step-by-step decoder needs to score it at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unshuffle.decode.contracts import Gold
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.padding import pad_documents


@dataclass(frozen=True, slots=True)
class Options:
    """Every choice with every sentence that is left at it, the one chosen first; nothing is padded."""

    choice: Tensor  # (options,)
    place: Tensor  # (options,) where the sentence stands in the order that is followed, documents end to end
    number: Tensor  # (options,) counted within its choice

    def log_probabilities(self, logits: Tensor) -> Tensor:
        """(options,) score of each -> (choices,) of the one chosen."""
        longest, choices = int(self.number.max()) + 1, int(self.choice[-1]) + 1
        table = logits.new_full((choices * longest,), -torch.inf)
        table = table.index_copy(0, self.choice * longest + self.number, logits)
        return torch.log_softmax(table.view(choices, longest), 1)[:, 0]


@dataclass(frozen=True, slots=True)
class Followed:
    """Each choice of some orders, document by document, in the order that is followed."""

    order: Tensor  # (sentences,) flat number of the sentence chosen
    document: Tensor  # (sentences,)
    step: Tensor  # (sentences,) how many were chosen before
    target: Tensor  # (sentences,) the sentence chosen, by its number in its document
    place: Tensor  # (documents, longest) at which place a sentence stands; -1 where there is none
    left: Tensor  # (sentences,) how many are left at each choice, the one chosen among them

    @classmethod
    def of(cls, graph: GraphBatch, gold: Gold) -> Followed:
        """The orders of a batch."""
        order, document = gold.flat_order(graph), graph.document_of_sentence
        first = graph.first_sentence[document]
        step = torch.arange(len(order), device=order.device) - first
        place = pad_documents(gold.place[:, None] + 1, graph).squeeze(-1) - 1
        return cls(order, document, step, order - first, place, graph.sizes[document] - step)

    def log_probabilities(self, logits: Tensor) -> Tensor:
        """(sentences, longest) score of every sentence at every choice -> (sentences,) of the one chosen."""
        used = self.place[self.document] < self.step[:, None]  # and the absent, whose place is -1
        log_probability = torch.log_softmax(logits.masked_fill(used, -torch.inf), 1)
        return log_probability.gather(1, self.target[:, None]).squeeze(1)

    def options(self) -> Options:
        """A table of all sentences at all choices would be half in vain: as many are gone as are left."""
        choices = torch.arange(len(self.left), device=self.left.device)
        choice = choices.repeat_interleave(self.left)
        number = torch.arange(len(choice), device=choice.device) - (self.left.cumsum(0) - self.left)[choice]
        return Options(choice, choice + number, number)
