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
from unshuffle.layers.padded import PaddedLSTM
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
        self._few = PaddedLSTM()

    def forward(self, batch: Batch) -> Encoded:
        """(words,) -> (sentences, width)."""
        ends = select_rows(self._last_states(batch.tokens.ids, batch.tokens.lengths), batch.tokens.distinct)
        return Encoded(sentences=self.dropout(ends), entities=self.embedding(batch.entity_words), topics=batch.topics)

    def _last_states(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """(distinct sentences, width)."""
        if self.training:
            return bilstm_last_states(self.lstm, self.embedding(ids), Packing.of(lengths))
        found = self._few.last_states(self.lstm, self.embedding(ids), lengths)
        if found is not None:
            return found
        # Without dropout, the input half of the gates is the same for equal words.
        words, rows = torch.unique(ids, return_inverse=True)
        return bilstm_last_states(self.lstm, self.embedding(words), Packing.of(lengths), rows)
