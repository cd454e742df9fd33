"""A pretrained transformer that reads a document as a set: sentences attend to each other without positions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, sentence_encoders
from unshuffle.encoders.pretrained.bert import Bert
from unshuffle.encoders.pretrained.loading import PretrainedConfig
from unshuffle.encoders.pretrained.pieces import (
    Pieces,
    PiecesEncoder,
    entity_vectors,
    groups_of,
    position_of_piece,
    read_pieces,
)
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import Batch, GraphBatch
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import scatter_sum, segment_mean, segment_of, select_rows

SCALE = 10.0
"""Unit in which the bias is learned; at the learning rate of the weights it would hardly move otherwise."""


@dataclass(frozen=True, kw_only=True)
class TransformerSetConfig(PretrainedConfig):
    """Encoder whose sentences attend to each other."""

    alone: Annotated[int, Ge(0)] = 2
    """Number of lowest layers that read each sentence on its own; above, all pieces of a document meet."""
    between_bias: float = -2.5
    """Initial bias of attention between different sentences; each layer and head learns its own."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    """On the sentence vectors."""


@sentence_encoders.register("transformer_set", TransformerSetConfig)
class TransformerSet(PiecesEncoder):
    """A sentence is the mean of its word pieces, an entity that of its mentions.

    Positions count within a sentence, and attention only knows whether two pieces belong to the same sentence, so
    permuting the sentences permutes the vectors and changes nothing else. It costs as much as reading the sentences
    one by one, and a pronoun can attend to its noun.
    """

    def __init__(self, config: TransformerSetConfig, *, words: int, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.config = config
        self.pieces = Pieces(config, words=words)
        if not isinstance(self.pieces.model, Bert):
            raise ConfigError("sentence_encoder: only a BERT can read a set of sentences. Use kind 'transformer'.")
        layers = self.pieces.model.layers
        if config.alone >= len(layers):
            raise ConfigError(f"sentence_encoder.alone: there are only {len(layers)} layers. Give a smaller number.")
        heads = int(layers[0].heads)  # type: ignore[arg-type]
        # Its name is that of a tensor in every model file.
        self.apart = nn.Parameter(torch.full((len(layers) - config.alone, heads), config.between_bias / SCALE))
        self.width = self.entity_width = self.pieces.width
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch) -> Encoded:
        """(pieces,) -> (sentences, width), (entities, width)."""
        tokens, graph = batch.tokens, batch.graph
        read = read_pieces(tokens.lengths, self.pieces.longest)
        lengths = tokens.lengths.clamp_max(self.pieces.longest)  # (distinct,)
        own = lengths[tokens.distinct]  # (sentences,)
        sentence, position = segment_of(own), position_of_piece(own)
        old_first, first = (lengths.cumsum(0) - lengths)[tokens.distinct], own.cumsum(0) - own
        states = self.pieces(tokens.ids[read], lengths, layers=self.config.alone)
        states = self._read_together(select_rows(states, old_first[sentence] + position), sentence, own, graph)
        mention, word = batch.spans[:, read[batch.spans[1]]]
        mentioning = graph.mentions[1, mention]
        piece = (read.cumsum(0) - 1)[word] - old_first[mentioning] + first[mentioning]
        pooled = ((position > 0) | (own[sentence] == 1)).nonzero().squeeze(1)  # without [CLS]
        return Encoded(
            sentences=self.dropout(segment_mean(select_rows(states, pooled), sentence[pooled], graph.sentences)),
            entities=entity_vectors(states, mention, piece, graph),
            topics=batch.topics,
        )

    def _read_together(self, states: Tensor, sentence: Tensor, own: Tensor, graph: GraphBatch) -> Tensor:
        """(pieces, width) through the upper layers, all pieces of a document together."""
        lengths = scatter_sum(own, graph.document_of_sentence, graph.documents)
        groups = [
            replace(group, part=group.table(sentence[:, None]).squeeze(-1))
            for group in groups_of(lengths, self.pieces.budget)
        ]
        return self.pieces.through(states, groups, *self._shared_layers, SCALE * self.apart)

    @property
    def _shared_layers(self) -> tuple[int, int]:
        return self.config.alone, self.config.alone + len(self.apart)
