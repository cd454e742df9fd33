"""Read-process encoder: an LSTM that attends to the set of sentences a few times (Logeswaran et al., 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, ParagraphEncoder, States, paragraph_encoders
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import scatter_sum, segment_softmax
from unshuffle.parts.registry import PartConfig


@dataclass(frozen=True, kw_only=True)
class SetLSTMConfig(PartConfig):
    """Paragraph encoder for sets; the defaults are Logeswaran et al.'s."""

    reads: Annotated[int, Ge(1)] = 10
    """Number of attention steps."""
    attention_width: Annotated[int, Ge(1)] = 500
    """Hidden layer of the attention."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.0
    """On the document states."""


@paragraph_encoders.register("set_lstm", SetLSTMConfig)
class SetLSTM(ParagraphEncoder):
    """The attended sentences are the LSTM's next input; its last state is the document's, sentences stay as they are.

    A sum over a set has no order, so neither has the result. The LSTM is as wide as a sentence vector, as in the paper.
    """

    def __init__(self, config: SetLSTMConfig, *, width: int, entity_input: int) -> None:
        super().__init__()
        self.reads = config.reads
        self.width = width
        self.from_sentence = nn.Linear(width, config.attention_width)
        self.from_state = nn.Linear(width, config.attention_width, bias=False)
        self.score = nn.Linear(config.attention_width, 1, bias=False)
        self.cell = nn.LSTMCell(width, width)
        self.dropout = Dropout(config.dropout)

    def forward(self, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
        """(sentences, width) -> the same, and (documents, width)."""
        sentences, document = encoded.sentences, graph.document_of_sentence
        keys = self.from_sentence(sentences)
        hidden = cell = sentences.new_zeros(graph.documents, self.width)
        for _ in range(self.reads):
            scores = self.score(torch.tanh(keys + self.from_state(hidden)[document]))
            share = segment_softmax(scores, document, graph.documents)  # (sentences, 1)
            hidden, cell = self.cell(scatter_sum(share * sentences, document, graph.documents), (hidden, cell))
        return States(encoded, sentences, self.dropout(hidden))
