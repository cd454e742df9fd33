"""Several BiLSTM layers, then the last states (L-TSort) or attention over the words (Wang and Wan, 2019: HAN)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, cast

import torch
from annotated_types import Ge, Lt, MultipleOf
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, SentenceEncoder, SentenceEncoderConfig, sentence_encoders
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import Batch
from unshuffle.layers.dropout import Dropout, WordEmbedding
from unshuffle.layers.recurrence import Packing, bilstm_states
from unshuffle.layers.segments import scatter_sum, segment_of, segment_softmax


@dataclass(frozen=True, kw_only=True)
class BiLSTMLayersConfig(SentenceEncoderConfig):
    """Deep bidirectional LSTM sentence encoder; the defaults are HAN's.

    L-TSort (Prabhumoye et al., 2020): width 1000, word_width 300, pooling "last", dropouts 0.2.
    """

    width: Annotated[int, Ge(2), MultipleOf(2)] = 512
    """Both directions together."""
    layers: Annotated[int, Ge(1)] = 2
    pooling: Literal["attention", "last"] = "attention"
    """`attention`: heads with a learned query each; `last`: the last states of the top layer."""
    heads: Annotated[int, Ge(1)] = 4
    word_width: Annotated[int, Ge(1)] = 300
    word_dropout: Annotated[float, Ge(0), Lt(1)] = 0.15
    layer_dropout: Annotated[float, Ge(0), Lt(1)] = 0.15
    """Between layers."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.15
    """On the sentence vectors."""


@sentence_encoders.register("bilstm_layers", BiLSTMLayersConfig)
class BiLSTMLayers(SentenceEncoder):
    """Each layer reads the states of the layer below, both directions of each word."""

    def __init__(self, config: BiLSTMLayersConfig, *, words: int, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.width = config.width
        self.entity_width = config.word_width
        self.embedding = WordEmbedding(
            words=words, width=config.word_width, dropout=config.word_dropout, vectors=vectors
        )
        inputs = [config.word_width, *[config.width] * (config.layers - 1)]
        self.layers = nn.ModuleList(nn.LSTM(size, config.width // 2, bidirectional=True) for size in inputs)
        self.attention = WordAttention(config.width, config.heads) if config.pooling == "attention" else None
        self.between = Dropout(config.layer_dropout)
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch) -> Encoded:
        """(words,) -> (sentences, width)."""
        packing = Packing.of(batch.tokens.lengths)
        words = self.embedding(batch.tokens.ids)
        for depth, lstm in enumerate(self.layers):
            words = self.between(words) if depth else words
            hidden = bilstm_states(cast(nn.LSTM, lstm), words, packing)  # (words, 2, width / 2)
            # Each direction has its own packed order; the next layer needs both in the order of the words.
            forward = torch.empty_like(hidden[:, 0]).index_copy(0, packing.forward, hidden[:, 0])
            backward = torch.empty_like(hidden[:, 1]).index_copy(0, packing.backward, hidden[:, 1])
            words = torch.cat([forward, backward], 1)
        if self.attention is not None:
            vectors = self.attention(words, batch.tokens.lengths)
        else:
            vectors = hidden[packing.last].flatten(1)
        return Encoded(
            sentences=self.dropout(vectors[batch.tokens.distinct]),
            entities=self.embedding(batch.entity_words),
            topics=batch.topics,
        )


class WordAttention(nn.Module):
    """Each head has a learned query; scaled dot products, then a projection.

    The paper does not say what the query is compared with; keys and values are projections of the words here.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise ConfigError(f"sentence_encoder.heads: {width} is not divisible by {heads}. Choose another number.")
        self.heads = heads
        self.query = nn.Parameter(torch.empty(heads, width // heads))
        nn.init.normal_(self.query)
        self.key_value = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """(words, width) -> (sentences, width)."""
        sentence = segment_of(lengths)
        key, value = self.key_value(words).view(len(words), 2, self.heads, -1).unbind(1)  # (words, heads, part)
        scores = (key * self.query).sum(-1) / math.sqrt(key.shape[-1])
        share = segment_softmax(scores, sentence, len(lengths))  # (words, heads)
        attended = scatter_sum(share[..., None] * value, sentence, len(lengths))
        vectors: Tensor = self.output(attended.flatten(1))
        return vectors
