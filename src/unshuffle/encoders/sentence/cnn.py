"""Convolution over word vectors with max-pooling (Chen et al., 2016; Gong et al., 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from annotated_types import Ge, Lt, MinLen
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, SentenceEncoder, SentenceEncoderConfig, sentence_encoders
from unshuffle.graph.batch import Batch
from unshuffle.layers.dropout import Dropout, WordEmbedding
from unshuffle.layers.segments import segment_max, segment_of


@dataclass(frozen=True, kw_only=True)
class CNNConfig(SentenceEncoderConfig):
    """Convolutional sentence encoder; the defaults are Chen et al.'s, (3, 4, 5) with 512 ReLU filters Gong et al.'s."""

    windows: Annotated[tuple[Annotated[int, Ge(1)], ...], MinLen(1)] = (3,)
    """Words seen by a filter; one set of filters per window."""
    filters: Annotated[int, Ge(1)] = 100
    """Filters per window; the sentence vector is as wide as all of them together."""
    activation: Literal["tanh", "relu"] = "tanh"
    word_width: Annotated[int, Ge(1)] = 100
    word_dropout: Annotated[float, Ge(0), Lt(1)] = 0.0
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.2
    """On the sentence vectors."""


@sentence_encoders.register("cnn", CNNConfig)
class CNN(SentenceEncoder):
    """Filters slide over the zero-padded sentence, so that every word is the middle of one window."""

    def __init__(self, config: CNNConfig, *, words: int, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.config = config
        self.width = config.filters * len(config.windows)
        self.entity_width = config.word_width
        self.embedding = WordEmbedding(
            words=words, width=config.word_width, dropout=config.word_dropout, vectors=vectors
        )
        self.filters = nn.ModuleList(nn.Linear(size * config.word_width, config.filters) for size in config.windows)
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch) -> Encoded:
        """(words,) -> (sentences, width)."""
        words, lengths = self.embedding(batch.tokens.ids), batch.tokens.lengths
        sentence = segment_of(lengths)
        pooled = [
            segment_max(filters(_windows(words, sentence, size)), sentence, len(lengths))
            for size, filters in zip(self.config.windows, self.filters, strict=True)
        ]
        # Both activations are monotonic, so they can be applied after the maximum, to fewer numbers.
        activation = torch.tanh if self.config.activation == "tanh" else torch.relu
        vectors = activation(torch.cat(pooled, 1))[batch.tokens.distinct]
        return Encoded(
            sentences=self.dropout(vectors), entities=self.embedding(batch.entity_words), topics=batch.topics
        )


def _windows(words: Tensor, sentence: Tensor, size: int) -> Tensor:
    """(words, width) -> (words, size width): each word with its neighbours, zeros beyond its sentence."""
    count = len(words)
    offset = torch.arange(size, device=words.device) - (size - 1) // 2
    position = torch.arange(count, device=words.device)[:, None] + offset  # (words, size)
    within = position.clamp(0, count - 1)
    outside = (position != within) | (sentence[within] != sentence[:, None])
    return words[within].masked_fill(outside[..., None], 0).flatten(1)
