"""BiLSTM over word vectors: the last states of both directions (Lai et al., 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Lt, MultipleOf
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, SentenceEncoder, SentenceEncoderConfig, sentence_encoders
from unshuffle.graph.batch import Batch
from unshuffle.layers.dropout import Dropout, WordEmbedding
from unshuffle.layers.padded import FEW, padded_last_states
from unshuffle.layers.recurrence import Packing, bilstm_last_states
from unshuffle.layers.segments import select_rows


@dataclass(frozen=True, kw_only=True)
class BiLSTMConfig(SentenceEncoderConfig):
    """Bidirectional LSTM sentence encoder."""

    width: Annotated[int, Ge(2), MultipleOf(2)] = 512
    """Both directions together."""
    word_width: Annotated[int, Ge(1)] = 100
    word_dropout: Annotated[float, Ge(0), Lt(1)] = 0.5
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.5
    """On the sentence vectors."""


@sentence_encoders.register("bilstm", BiLSTMConfig)
class BiLSTM(SentenceEncoder):
    """A sentence vector is the last states of both directions."""

    def __init__(self, config: BiLSTMConfig, *, words: int, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.width = config.width
        self.entity_width = config.word_width
        self.embedding = WordEmbedding(
            words=words, width=config.word_width, dropout=config.word_dropout, vectors=vectors
        )
        self.lstm = nn.LSTM(config.word_width, config.width // 2, bidirectional=True)
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch) -> Encoded:
        """(words,) -> (sentences, width)."""
        ids, lengths = batch.tokens.ids, batch.tokens.lengths
        if self.training or torch.is_grad_enabled():
            ends = bilstm_last_states(self.lstm, self.embedding(ids), Packing.of(lengths))
        elif len(lengths) <= FEW:
            ends = padded_last_states(self.lstm, self.embedding(ids), lengths)
        else:  # without dropout, the input half of the gates is the same for equal words
            words, rows = torch.unique(ids, return_inverse=True)
            ends = bilstm_last_states(self.lstm, self.embedding(words), Packing.of(lengths), rows)
        vectors = select_rows(ends, batch.tokens.distinct)
        return Encoded(
            sentences=self.dropout(vectors), entities=self.embedding(batch.entity_words), topics=batch.topics
        )
