"""A given order, one row a choice: what every step-by-step decoder needs to score it at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unshuffle.decode.contracts import Gold
from unshuffle.graph.batch import GraphBatch, padded


@dataclass(frozen=True, slots=True)
class Followed:
    """Each choice of some orders, document by document, in the order that is followed."""

    order: Tensor  # (sentences,) flat number of the sentence chosen
    document: Tensor  # (sentences,)
    step: Tensor  # (sentences,) how many were chosen before
    target: Tensor  # (sentences,) the sentence chosen, by its number in its document
    place: Tensor  # (documents, longest) at which place a sentence stands; -1 where there is none

    @classmethod
    def of(cls, graph: GraphBatch, gold: Gold) -> Followed:
        """The orders of a batch."""
        order, document = gold.flat_order(graph), graph.document_of_sentence
        first = graph.first_sentence[document]
        step = torch.arange(len(order), device=order.device) - first
        place = padded(gold.place[:, None] + 1, graph).squeeze(-1) - 1
        return cls(order, document, step, order - first, place)

    def log_probabilities(self, logits: Tensor) -> Tensor:
        """(sentences, longest) score of every sentence at every choice -> (sentences,) of the one chosen."""
        used = self.place[self.document] < self.step[:, None]  # and the absent, whose place is -1
        log_probability = torch.log_softmax(logits.masked_fill(used, -torch.inf), 1)
        return log_probability.gather(1, self.target[:, None]).squeeze(1)
