"""Tie-breaking by the content of sentences, never by their position in the input."""

from __future__ import annotations

import torch
from torch import Tensor

from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.padding import pad_documents

GOLDEN = (5**0.5 - 1) / 2


def content_keys(states: States) -> Tensor:
    """(sentences,) a number that depends on a sentence's vectors alone; equal for equal sentences."""
    rows = torch.cat([states.encoded.sentences, states.sentences], 1).detach().double()
    mix = torch.cos(torch.arange(1, rows.shape[1] + 1, dtype=rows.dtype, device=rows.device) * GOLDEN)
    return rows @ mix


def content_ranks(states: States, graph: GraphBatch) -> Tensor:
    """(documents, longest) each sentence's rank in its document by key; equal sentences in pseudo-random order.

    The pseudo-random number mixes the position with the document's keys: the input could be in the true order.
    """
    keys = pad_documents(content_keys(states), graph)
    place = torch.arange(keys.shape[1], dtype=keys.dtype, device=keys.device)
    lot = torch.frac(43758.5453 * torch.sin(12.9898 * (place + 1) + 78.233 * keys.sum(1, keepdim=True)))
    drawn = lot.argsort(1)
    order = drawn.gather(1, keys.gather(1, drawn).argsort(dim=1, stable=True))
    return order.argsort(1)
