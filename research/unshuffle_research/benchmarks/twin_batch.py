"""Documents as padded tables, the way a dense network reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from unshuffle.graph.prepare import Item


@dataclass(frozen=True, slots=True)
class PaddedBatch:
    """Zeros wherever there is no word, sentence, entity or edge."""

    words: Tensor  # (documents, sentences, words)
    lengths: Tensor  # (documents, sentences)
    sizes: Tensor  # (documents,)
    entity_words: Tensor  # (documents, entities)
    entity_mask: Tensor  # (documents, entities)
    links: Tensor  # (documents, sentences, sentences)
    roles: Tensor  # (documents, sentences, entities)

    @classmethod
    def of(cls, items: Sequence[Item]) -> PaddedBatch:
        """Filled with numpy, document by document."""
        documents = len(items)
        sentences = max(item.graph.sentences for item in items)
        entities = max(len(item.graph.words) for item in items)
        longest = max(len(words) for item in items for words in item.words)
        words = np.zeros((documents, sentences, longest), np.int64)
        lengths = np.zeros((documents, sentences), np.int64)
        entity_words = np.zeros((documents, entities), np.int64)
        entity_mask = np.zeros((documents, entities), bool)
        links = np.zeros((documents, sentences, sentences), np.float32)
        roles = np.zeros((documents, sentences, entities), np.int64)
        for row, item in enumerate(items):
            for index, sentence in enumerate(item.words):
                words[row, index, : len(sentence)] = sentence
                lengths[row, index] = len(sentence)
            graph = item.graph
            entity_words[row, : len(graph.words)] = item.entity_words
            entity_mask[row, : len(graph.words)] = True
            one, other = graph.pairs
            links[row, one, other] = links[row, other, one] = 1
            roles[row, graph.mentions[1], graph.mentions[0]] = graph.roles
        sizes = np.array([item.graph.sentences for item in items])
        return cls(*map(torch.from_numpy, (words, lengths, sizes, entity_words, entity_mask, links, roles)))


def padded_orders(orders: Sequence[Sequence[int]]) -> Tensor:
    """(documents, sentences), each a permutation of all positions: those without a sentence stay where they are."""
    longest = max(map(len, orders))
    return torch.tensor([[*order, *range(len(order), longest)] for order in orders])
