"""BiLSTM over what a transformer says of the word pieces; the transformer itself is left as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Lt, MultipleOf
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, sentence_encoders
from unshuffle.encoders.pretrained.encoder import PiecesEncoder
from unshuffle.encoders.pretrained.loading import PretrainedConfig
from unshuffle.encoders.pretrained.pieces import Pieces, entity_vectors, read_pieces
from unshuffle.graph.batch import Batch, taken
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.recurrence import Layout, read_to_the_ends


@dataclass(frozen=True, kw_only=True)
class TransformerBiLSTMConfig(PretrainedConfig):
    """BiLSTM on the states of a pretrained transformer, which learns nothing unless told to."""

    width: Annotated[int, Ge(2), MultipleOf(2)] = 512
    """Both directions together."""
    frozen_layers: Annotated[int, Ge(-1)] = -1
    """So many of the lowest layers are not trained; -1 for all of them."""
    freeze_embeddings: bool = True
    """Whether what lies below the layers is left untrained too."""
    word_dropout: Annotated[float, Ge(0), Lt(1)] = 0.5
    """On the states of the word pieces, entities' included."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.5
    """On the sentence vectors."""


@sentence_encoders.register("transformer_bilstm", TransformerBiLSTMConfig)
class TransformerBiLSTM(PiecesEncoder):
    """The paper's encoder with words in context in place of word vectors; marks are read like words."""

    def __init__(self, config: TransformerBiLSTMConfig, *, words: int, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.config = config
        self.pieces = Pieces(config, words=words)
        self.width, self.entity_width = config.width, self.pieces.width
        self.lstm = nn.LSTM(self.pieces.width, config.width // 2, bidirectional=True)
        self.word_dropout = Dropout(config.word_dropout)
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch) -> Encoded:
        """(pieces,) -> (sentences, width), (entities, width of a piece)."""
        tokens = batch.tokens
        read = read_pieces(tokens.lengths, self.pieces.longest)
        lengths = tokens.lengths.clamp_max(self.pieces.longest)
        states = self.word_dropout(self.pieces(tokens.ids[read], lengths))
        ends = read_to_the_ends(self.lstm, states, Layout.of(lengths))
        mention, word = batch.spans[:, read[batch.spans[1]]]
        return Encoded(
            sentences=self.dropout(taken(ends, tokens.distinct)),
            entities=entity_vectors(states, mention, (read.cumsum(0) - 1)[word], batch.graph),
            topics=batch.topics,
        )
