"""A pretrained transformer over a whole document in one sequence (BERT4SO; NAON; ReBART's encoder)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from annotated_types import Ge, Lt
from torch import Tensor

from unshuffle.encoders.contracts import Encoded, sentence_encoders
from unshuffle.encoders.pretrained.loading import PretrainedConfig
from unshuffle.encoders.pretrained.pieces import Pieces, PiecesEncoder, entity_vectors, position_of_piece
from unshuffle.graph.batch import Batch, GraphBatch
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import segment_mean, segment_of


@dataclass(frozen=True, kw_only=True)
class TransformerJoinedConfig(PretrainedConfig):
    """Document encoder on a pretrained transformer."""

    longest: Annotated[int, Ge(8)] = 512
    """Longest sequence in word pieces; a longer document is split between sentences into independent sequences."""
    pooling: Literal["mean", "first"] = "mean"
    """`mean`: over a sentence's pieces without its [CLS]; `first`: its [CLS], as BERT4SO. A transformer pretrained on
    one [CLS] per text gives all [CLS] of a document nearly the same state at first."""
    alternate: bool = True
    """Whether segment ids alternate between sentences, as in BERT4SO; for transformers that have segments."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    """On the sentence vectors."""


@dataclass(frozen=True, slots=True)
class JoinedText:
    """[CLS] one [CLS] two ... [SEP]: the sequences of all windows of all documents, end to end."""

    word: Tensor  # (pieces,) the flat word of the tokens that stands here
    lengths: Tensor  # (windows,)
    sentence: Tensor  # (pieces,) the final separator belongs to the last sentence
    marker: Tensor  # (sentences,) position of each sentence's marker
    kept: Tensor  # (sentences,) pieces of each sentence that are read, marker included


@sentence_encoders.register("transformer_joined", TransformerJoinedConfig)
class TransformerJoined(PiecesEncoder):
    """Reads the sentences in the given order, each after its own [CLS].

    Positions reveal that order to the transformer, so results depend on it, as `order_sensitive` declares.
    """

    order_sensitive = True

    def __init__(self, config: TransformerJoinedConfig, *, words: int, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.config = config
        self.pieces = Pieces(config, words=words)
        self.width = self.entity_width = self.pieces.width
        self.longest = min(config.longest, self.pieces.longest)
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch) -> Encoded:
        """(pieces,) -> (sentences, width), (entities, width)."""
        tokens, graph = batch.tokens, batch.graph
        text = joined(tokens.lengths[tokens.distinct], tokens.distinct, tokens.lengths, graph, self.longest)
        segments = None
        if self.config.alternate:
            position = torch.arange(graph.sentences, device=text.word.device)
            position = position - graph.first_sentence[graph.document_of_sentence]
            segments = (position % 2)[text.sentence]
        states = self.pieces(tokens.ids[text.word], text.lengths, segments)
        mention, word = batch.spans
        sentence = graph.mentions[1, mention]
        position = word - (tokens.lengths.cumsum(0) - tokens.lengths)[tokens.distinct[sentence]]
        read = position < text.kept[sentence]
        piece = (text.marker[sentence] + position)[read]
        return Encoded(
            sentences=self.dropout(self._vectors(states, text)),
            entities=entity_vectors(states, mention[read], piece, graph),
            topics=batch.topics,
        )

    def _vectors(self, states: Tensor, text: JoinedText) -> Tensor:
        """(pieces, width) -> (sentences, width)."""
        if self.config.pooling == "first":
            return states[text.marker]
        kept = text.kept[text.sentence]
        position = torch.arange(len(kept), device=kept.device) - text.marker[text.sentence]
        own = (position < kept) & ((position > 0) | (kept == 1))
        return segment_mean(states[own], text.sentence[own], len(text.marker))


def joined(lengths: Tensor, distinct: Tensor, word_counts: Tensor, graph: GraphBatch, longest: int) -> JoinedText:
    """`lengths`: (sentences,) with [CLS] and [SEP]; the latter is kept only where a window ends."""
    kept = (lengths - 1).clamp(1, longest - 1)
    opens = torch.tensor(_window_starts(kept.tolist(), graph.document_of_sentence.tolist(), longest - 1))
    opens = opens.to(lengths.device)
    window = opens.long().cumsum(0) - 1  # (sentences,)
    ends = torch.cat([opens[1:], opens.new_ones(1)]).long()
    sentence = segment_of(kept + ends)
    position = position_of_piece(kept + ends)
    start = (word_counts.cumsum(0) - word_counts)[distinct]
    closing = position == kept[sentence]
    word = torch.where(closing, (start + lengths - 1)[sentence], start[sentence] + position)
    sizes = torch.zeros(int(window[-1]) + 1, dtype=lengths.dtype, device=lengths.device)
    marker = (kept + ends).cumsum(0) - (kept + ends)
    return JoinedText(word, sizes.index_add(0, window, kept + ends), sentence, marker, kept)


def _window_starts(sizes: list[int], documents: list[int], room: int) -> list[bool]:
    """Which sentences open a window: the first of a document, and one that no longer fits."""
    starts, filled, current = [], 0, -1
    for size, document in zip(sizes, documents, strict=True):
        opens = document != current or filled + size > room
        filled = size if opens else filled + size
        current = document
        starts.append(opens)
    return starts
