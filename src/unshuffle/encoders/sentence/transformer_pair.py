"""A pretrained transformer that reads every ordered pair of sentences (BERSON; B-TSort; ConsGraph)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, sentence_encoders
from unshuffle.encoders.pretrained.loading import PretrainedConfig
from unshuffle.encoders.pretrained.pair_text import PairText
from unshuffle.encoders.pretrained.pieces import Pieces, PiecesEncoder, entity_vectors, read_pieces
from unshuffle.graph.batch import Batch, ordered_pairs
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import scatter_sum, segment_mean, segment_of, segment_softmax


@dataclass(frozen=True, kw_only=True)
class TransformerPairConfig(PretrainedConfig):
    """Pair encoder on a pretrained transformer; the cost grows with the square of the number of sentences."""

    sentences: Literal["attention", "mean", "alone"] = "attention"
    """Sentence vectors: `attention` over pieces and then pairs, as BERSON; `mean` of the [CLS] of the pairs that the
    sentence opens; `alone`: [CLS] of the sentence read on its own by the same transformer, as ConsGraph."""
    longest: Annotated[int, Ge(5)] = 105
    """Longest pair in word pieces; longer ones are cut evenly from both sentences."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    """On sentence and pair vectors."""


@sentence_encoders.register("transformer_pair", TransformerPairConfig)
class TransformerPair(PiecesEncoder):
    """[CLS] of a pair is its vector; a sentence vector is pooled from all pairs that contain it.

    The only sentence of a document has no pair, and a zero vector unless sentences are also read on their own.
    """

    def __init__(self, config: TransformerPairConfig, *, words: int, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.config = config
        self.pieces = Pieces(config, words=words)
        width = self.width = self.entity_width = self.pair_width = self.pieces.width
        self.gather = HalfAttention(width) if config.sentences == "attention" else None
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch) -> Encoded:
        """(pieces,) -> (sentences, width), (ordered pairs, width)."""
        pairs = ordered_pairs(batch.graph)
        text = PairText.of(
            batch.tokens,
            pairs,
            longest=min(self.config.longest, self.pieces.longest),
            separators=self.pieces.separators,
        )
        same = batch.tokens.distinct[pairs]
        if self.gather is None and not len(batch.spans[0]):  # nobody asks for more than the [CLS] of each pair
            relations = self._openings(text, same, batch.tokens.ids)
            states = relations[:0]
        else:
            states = self._states(text, same, batch.tokens.ids)
            relations = states[text.opening]  # (ordered pairs, width)
        if self.gather is not None:
            sentences = self.gather(states, text, pairs, batch.graph.sentences)
        elif self.config.sentences == "mean":
            sentences = segment_mean(relations, pairs[0], batch.graph.sentences)
        else:
            sentences = self._alone(batch)
        return Encoded(
            sentences=self.dropout(sentences),
            entities=self._entities(states, text, pairs, batch),
            pairs=self.dropout(relations),
            topics=batch.topics,
        )

    def _states(self, text: PairText, pairs: Tensor, ids: Tensor) -> Tensor:
        """(pieces, width); pairs of the same two texts, as in two shuffles of a document, are read once."""
        distinct, which = torch.unique(pairs, dim=1, return_inverse=True)
        count = distinct.shape[1]
        if count == pairs.shape[1]:
            states: Tensor = self.pieces(ids[text.word], text.lengths, text.half)
            return states
        everyone = torch.arange(len(which), device=which.device)
        first = which.new_full((count,), len(which)).scatter_reduce(0, which, everyone, "amin")
        read = (first[which] == everyone)[text.pair]  # (pieces,)
        once: Tensor = self.pieces(ids[text.word[read]], text.lengths[first.sort().values], text.half[read])
        start = text.lengths.cumsum(0) - text.lengths
        position = torch.arange(len(text.pair), device=which.device) - start[text.pair]
        number = read.cumsum(0) - 1  # of a piece among those that are read
        return once[number[start[first[which]][text.pair] + position]]

    def _openings(self, text: PairText, pairs: Tensor, ids: Tensor) -> Tensor:
        """(pairs, width) [CLS] of each; pairs of the same two texts are read once."""
        distinct, which = torch.unique(pairs, dim=1, return_inverse=True)
        everyone = torch.arange(len(which), device=which.device)
        first = which.new_full((distinct.shape[1],), len(which)).scatter_reduce(0, which, everyone, "amin")
        read = first[which] == everyone  # (pairs,)
        kept = read[text.pair]
        once = self.pieces.openings(ids[text.word[kept]], text.lengths[read], text.half[kept])
        return once[(read.cumsum(0) - 1)[first[which]]]

    def _alone(self, batch: Batch) -> Tensor:
        """[CLS] of each sentence read on its own."""
        tokens = batch.tokens
        read = read_pieces(tokens.lengths, self.pieces.longest)
        lengths = tokens.lengths.clamp_max(self.pieces.longest)
        return self.pieces.openings(tokens.ids[read], lengths)[tokens.distinct]

    def _entities(self, states: Tensor, text: PairText, pairs: Tensor, batch: Batch) -> Tensor:
        """Mean over all positions where a piece of a mention is read, in whatever pair."""
        tokens, (mention, word) = batch.tokens, batch.spans
        if not len(mention):
            return states.new_zeros(batch.graph.entities, self.entity_width)
        # Equal sentences share their words but not their pairs, so words are renumbered by sentence.
        lengths = tokens.lengths[tokens.distinct]
        start, moved = tokens.lengths.cumsum(0) - tokens.lengths, lengths.cumsum(0) - lengths
        sentence = pairs[text.half, text.pair]
        own = moved[sentence] + text.word - start[tokens.distinct[sentence]]  # (pieces,)
        size = len(segment_of(lengths))
        there = torch.bincount(own, minlength=size) > 0
        sentence = batch.graph.mentions[1, mention]
        piece = moved[sentence] + word - start[tokens.distinct[sentence]]
        read = there[piece]
        return entity_vectors(segment_mean(states, own, size), mention[read], piece[read], batch.graph)


class HalfAttention(nn.Module):
    """Attention over the pieces of each half of a pair, then over the 2 (n - 1) halves that contain a sentence.

    A half is a sentence's pieces and the separators behind it; [CLS] belongs to neither.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.piece_score = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
        self.half_score = nn.Linear(width, 1)

    def forward(self, states: Tensor, text: PairText, pairs: Tensor, sentences: int) -> Tensor:
        """(pieces, width) -> (sentences, width)."""
        count = 2 * pairs.shape[1]
        inside = ~text.opening
        pieces, half = states[inside], (text.half * pairs.shape[1] + text.pair)[inside]
        halves = scatter_sum(segment_softmax(self.piece_score(pieces), half, count) * pieces, half, count)
        sentence = pairs.flatten()  # of all first halves, then of all second ones
        return scatter_sum(segment_softmax(self.half_score(halves), sentence, sentences) * halves, sentence, sentences)
