"""Every ordered pair of a document's sentences, in one fixed layout that encoders and decoders share."""

from __future__ import annotations

import torch
from torch import Tensor

from unshuffle.graph.batch import GraphBatch


def ordered_pairs(graph: GraphBatch) -> Tensor:
    """(2, ordered pairs) all i != j of a document: document by document, all pairs (0, j), then (1, j), and so on."""
    others = (graph.sizes - 1)[graph.document_of_sentence]  # (sentences,)
    one = torch.arange(graph.sentences, device=others.device).repeat_interleave(others)
    place = torch.arange(len(one), device=others.device) - (others.cumsum(0) - others)[one]
    first = graph.first_sentence[graph.document_of_sentence][one]
    return torch.stack([one, first + place + (place >= one - first).long()])


def pair_numbers(graph: GraphBatch, one: Tensor, other: Tensor) -> Tensor:
    """Where each ordered pair (one, other) of flat sentence numbers stands in `ordered_pairs`."""
    document = graph.document_of_sentence[one]
    counts = graph.sizes * (graph.sizes - 1)
    first_pair, first_sentence = counts.cumsum(0) - counts, graph.first_sentence
    row, column = one - first_sentence[document], other - first_sentence[document]
    return first_pair[document] + row * (graph.sizes[document] - 1) + column - (column > row).long()
