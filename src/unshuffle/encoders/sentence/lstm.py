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
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.embedding import WordEmbedding
from unshuffle.layers.recurrence import Layout, read_one_way


@dataclass(frozen=True, kw_only=True)
class LSTMConfig(SentenceEncoderConfig):
    """One-way LSTM sentence encoder; the defaults are Gong et al.'s."""

    hidden: Annotated[int, Ge(1)] = 100
    vector: Literal["hidden", "cell_hidden"] = "cell_hidden"
    """The last hidden state, or the last cell and hidden state side by side, twice as wide."""
    backwards: bool = False
    """Whether to read from the last word to the first, as Chen et al. do."""
    word_width: Annotated[int, Ge(1)] = 100
    train_words: bool = True
    """Whether word vectors are trained on; Logeswaran et al. leave them as they are."""
    word_dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    """On the sentence vectors."""


@sentence_encoders.register("lstm", LSTMConfig)
class LSTM(SentenceEncoder):
    """Reads a sentence once; its vector is where the reader stops."""

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
        layout = Layout.of(batch.tokens.lengths)
        way = layout.backward if self.config.backwards else layout.forward
        vectors = self._last(self.embedding(batch.tokens.ids)[way], layout)[batch.tokens.distinct]
        return Encoded(
            sentences=self.dropout(vectors), entities=self.embedding(batch.entity_words), topics=batch.topics
        )

    def _last(self, words: Tensor, layout: Layout) -> Tensor:
        """(words, word width) in the layout's places -> (distinct, width)."""
        if self.config.vector == "hidden":
            nothing = words.new_zeros(len(layout.order), self.config.hidden)
            return read_one_way(self.lstm, words, nothing, layout)[layout.last]
        # The layout is that of torch's packed sequences, whose LSTM also hands out the cells.
        _, (hidden, cell) = self.lstm(PackedSequence(words, torch.tensor(layout.sizes)))
        last = torch.cat([cell[0], hidden[0]], 1)  # by falling length
        return torch.empty_like(last).index_copy(0, layout.order, last)
