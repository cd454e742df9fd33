"""Bag of words: the mean of a sentence's word vectors (Chen et al., 2016, CBoW)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Lt
from torch import Tensor

from unshuffle.encoders.contracts import Encoded, SentenceEncoder, SentenceEncoderConfig, sentence_encoders
from unshuffle.graph.batch import Batch
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.embedding import WordEmbedding
from unshuffle.layers.segments import segment_mean, segment_of


@dataclass(frozen=True, kw_only=True)
class BagConfig(SentenceEncoderConfig):
    """Bag-of-words sentence encoder; a sentence is as wide as a word."""

    word_width: Annotated[int, Ge(1)] = 100
    word_dropout: Annotated[float, Ge(0), Lt(1)] = 0.0
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.2
    """On the sentence vectors."""


@sentence_encoders.register("bag", BagConfig)
class Bag(SentenceEncoder):
    """Knows which words a sentence has and nothing of their order."""

    def __init__(self, config: BagConfig, *, words: int, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.width = self.entity_width = config.word_width
        self.embedding = WordEmbedding(
            words=words, width=config.word_width, dropout=config.word_dropout, vectors=vectors
        )
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch) -> Encoded:
        """(words,) -> (sentences, width)."""
        lengths = batch.tokens.lengths
        means = segment_mean(self.embedding(batch.tokens.ids), segment_of(lengths), len(lengths))
        return Encoded(
            sentences=self.dropout(means[batch.tokens.distinct]),
            entities=self.embedding(batch.entity_words),
            topics=batch.topics,
        )
