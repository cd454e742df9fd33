"""Softmax, mean and maximum over the rows that belong together, without padding."""

from __future__ import annotations

import torch
from torch import Tensor

from unshuffle.graph.batch import add_into


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
    return powers / add_into(powers, segment, size)[segment]


def segment_mean(rows: Tensor, segment: Tensor, size: int) -> Tensor:
    """(rows, width) -> (size, width); zeros where a segment is empty."""
    counts = torch.bincount(segment, minlength=size).clamp_min(1)
    return add_into(rows, segment, size) / counts[:, None]
