"""Rows that belong to the same segment, flat or as a padded table: sums, means, maxima, softmax."""

from __future__ import annotations

import torch
from torch import Tensor

from unshuffle.graph.batch import GraphBatch


def select_rows(rows: Tensor, index: Tensor) -> Tensor:
    """`rows[index]`: (rows, ...) -> (index, ...); its backward pass works on whole rows, unlike indexing's."""
    return rows.index_select(0, index)


def scatter_sum(rows: Tensor, target: Tensor, size: int) -> Tensor:
    """(rows, ...) -> (size, ...): the sum of all rows that share a target."""
    return rows.new_zeros(size, *rows.shape[1:]).index_add(0, target, rows)


def segment_of(lengths: Tensor) -> Tensor:
    """(segments,) -> (rows,) which segment each row of segments laid end to end belongs to."""
    return torch.arange(len(lengths), device=lengths.device).repeat_interleave(lengths)


def segment_max(rows: Tensor, segment: Tensor, size: int) -> Tensor:
    """(rows, ...) -> (size, ...); zeros where a segment is empty."""
    index = segment.view(-1, *[1] * (rows.dim() - 1)).expand_as(rows)
    return rows.new_zeros(size, *rows.shape[1:]).scatter_reduce(0, index, rows, "amax", include_self=False)


def segment_softmax(scores: Tensor, segment: Tensor, size: int) -> Tensor:
    """(rows, ...) -> (rows, ...) that add up to 1 within each segment."""
    powers = (scores - segment_max(scores.detach(), segment, size)[segment]).exp()
    return powers / scatter_sum(powers, segment, size)[segment]


def segment_mean(rows: Tensor, segment: Tensor, size: int) -> Tensor:
    """(rows, width) -> (size, width); zeros where a segment is empty."""
    counts = torch.bincount(segment, minlength=size).clamp_min(1)
    return scatter_sum(rows, segment, size) / counts[:, None]


def pad_documents(rows: Tensor, graph: GraphBatch) -> Tensor:
    """(sentences, ...) -> (documents, longest, ...), zeros after a document's last sentence."""
    if graph.documents == 1:
        return rows[None]
    longest = int(graph.sizes.max())
    document = graph.document_of_sentence
    position = torch.arange(graph.sentences, device=rows.device) - graph.first_sentence[document]
    table = rows.new_zeros(graph.documents * longest, *rows.shape[1:])
    return table.index_copy(0, document * longest + position, rows).view(graph.documents, longest, *rows.shape[1:])


def sentence_mask(graph: GraphBatch) -> Tensor:
    """(documents, longest): whether the document has a sentence at that position."""
    return torch.arange(int(graph.sizes.max()), device=graph.sizes.device) < graph.sizes[:, None]
