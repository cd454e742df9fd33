"""LSTM over the sentences in the order in which they are given (Gong et al., 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, ParagraphEncoder, States, paragraph_encoders
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.recurrence import Packing, lstm_states
from unshuffle.parts.registry import PartConfig


@dataclass(frozen=True, kw_only=True)
class ParagraphLSTMConfig(PartConfig):
    """Order-sensitive paragraph encoder; the defaults are Gong et al.'s."""

    width: Annotated[int, Ge(1)] = 100
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    """On the sentence states."""


@paragraph_encoders.register("lstm", ParagraphLSTMConfig)
class ParagraphLSTM(ParagraphEncoder):
    """The state after each sentence is the sentence's, the one after the last is the document's.

    The paper's end-of-text pseudo-sentence, which stops the decoder, is left out: orders end when no sentence is left.
    """

    order_sensitive = True

    def __init__(self, config: ParagraphLSTMConfig, *, width: int, entity_input: int) -> None:
        super().__init__()
        self.width = config.width
        self.lstm = nn.LSTM(width, config.width)
        self.dropout = Dropout(config.dropout)

    def forward(self, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
        """(sentences, input) -> (sentences, width), (documents, width)."""
        packing = Packing.of(graph.sizes)
        zeros = encoded.sentences.new_zeros(graph.documents, self.width)
        read = lstm_states(self.lstm, encoded.sentences[packing.forward], zeros, packing)
        states = torch.empty_like(read).index_copy(0, packing.forward, read)
        return States(encoded, self.dropout(states), read[packing.last])
