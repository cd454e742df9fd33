"""Trained word vectors that may start from GloVe; entities share them, as in SE-GRN."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unshuffle.layers.dropout import Dropout


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
