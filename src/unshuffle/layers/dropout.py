"""Dropout that draws one random byte per value, and trained word vectors with it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

LEVELS = 256
"""Values of a byte; a rate of 0.5 is exact, any other is rounded to the nearest 1/256."""


class Dropout(nn.Module):
    """Zeroes values at random while training and scales the others up, so that the mean stays the same."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.dropped = round(rate * LEVELS)
        self.rate = self.dropped / LEVELS
        if self.dropped >= LEVELS:
            raise ValueError(f"a dropout rate of {rate} leaves nothing: choose one below 1")

    def forward(self, values: Tensor) -> Tensor:
        """Of any shape."""
        if not self.training or self.dropped == 0:
            return values
        count = values.numel()
        numbers = torch.empty(count // 8 + 1, dtype=torch.int64, device=values.device).random_(-(2**63), None)
        drawn = numbers.view(torch.uint8)[:count].view(values.shape)
        kept = (drawn >= self.dropped).to(values.dtype).mul_(1 / (1 - self.rate))
        return values * kept

    def extra_repr(self) -> str:
        """Shown by print(module)."""
        return f"rate={self.rate:g}"


class WordEmbedding(nn.Module):
    """Word numbers to vectors with dropout."""

    def __init__(self, *, words: int, width: int, dropout: float, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.width = width
        self.table = nn.Embedding(words, width)
        self.dropout = Dropout(dropout)
        if vectors is not None:
            with torch.no_grad():
                self.table.weight.copy_(vectors)

    def forward(self, numbers: Tensor) -> Tensor:
        """(words,) -> (words, width)."""
        embedded: Tensor = self.dropout(self.table(numbers))
        return embedded
