"""LSTM over word vectors in one direction (Chen et al., 2016; Gong et al., 2016; Logeswaran et al., 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from unshuffle.encoders.contracts import Encoded, SentenceEncoder, SentenceEncoderConfig, sentence_encoders
from unshuffle.graph.batch import Batch
from unshuffle.layers.dropout import Dropout, WordEmbedding
from unshuffle.layers.recurrence import Packing, lstm_states


@dataclass(frozen=True, kw_only=True)
class LSTMConfig(SentenceEncoderConfig):
    """One-way LSTM sentence encoder; the defaults are Gong et al.'s."""

    hidden: Annotated[int, Ge(1)] = 100
    vector: Literal["hidden", "cell_hidden"] = "cell_hidden"
    """The last hidden state, or [last cell; last hidden state], twice as wide."""
    backwards: bool = False
    """Whether to read from the last word to the first, as Chen et al. do."""
    word_width: Annotated[int, Ge(1)] = 100
    train_words: bool = True
    """Whether word vectors are trained; Logeswaran et al. keep them fixed."""
    word_dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    """On the sentence vectors."""


@sentence_encoders.register("lstm", LSTMConfig)
class LSTM(SentenceEncoder):
    """Reads a sentence in one direction; its vector is the last state."""

    def __init__(self, config: LSTMConfig, *, words: int, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.config = config
        self.width = config.hidden * (2 if config.vector == "cell_hidden" else 1)
        self.entity_width = config.word_width
        self.embedding = WordEmbedding(
            words=words, width=config.word_width, dropout=config.word_dropout, vectors=vectors
        )
        self.embedding.table.weight.requires_grad_(config.train_words)
        self.lstm = nn.LSTM(config.word_width, config.hidden)
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch) -> Encoded:
        """(words,) -> (sentences, width)."""
        packing = Packing.of(batch.tokens.lengths)
        order = packing.backward if self.config.backwards else packing.forward
        vectors = self._last(self.embedding(batch.tokens.ids)[order], packing)[batch.tokens.distinct]
        return Encoded(
            sentences=self.dropout(vectors), entities=self.embedding(batch.entity_words), topics=batch.topics
        )

    def _last(self, words: Tensor, packing: Packing) -> Tensor:
        """(words, word width) in packed order -> (distinct, width)."""
        if self.config.vector == "hidden":
            zeros = words.new_zeros(len(packing.order), self.config.hidden)
            return lstm_states(self.lstm, words, zeros, packing)[packing.last]
        # Torch's LSTM, unlike ours, also returns the cells.
        _, (hidden, cell) = self.lstm(PackedSequence(words, torch.tensor(packing.sizes)))
        last = torch.cat([cell[0], hidden[0]], 1)  # by decreasing length
        return torch.empty_like(last).index_copy(0, packing.order, last)
