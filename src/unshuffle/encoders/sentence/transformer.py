"""A pretrained transformer that reads each sentence on its own; entities are vectors in context (Lai et al., 5.1)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
from annotated_types import Ge, Lt
from torch import Tensor

from unshuffle.encoders.contracts import Encoded, sentence_encoders
from unshuffle.encoders.pretrained.loading import PretrainedConfig
from unshuffle.encoders.pretrained.pieces import (
    Pieces,
    PiecesEncoder,
    mean_over_mentions,
    position_of_piece,
    read_pieces,
)
from unshuffle.encoders.pretrained.vector_cache import VectorCache
from unshuffle.graph.batch import Batch, Tokens
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import segment_mean, segment_of


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(PretrainedConfig):
    """Sentence encoder on a pretrained transformer."""

    pooling: Literal["mean", "first"] = "mean"
    """`mean`: over word pieces and [SEP] without [CLS], as IRSE-GRN's program; `first`: [CLS], as RankTxNet."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.5
    """On the sentence vectors."""


@dataclass(frozen=True, slots=True)
class PooledSpans:
    """Sets of pieces whose mean is a vector: one per distinct sentence, then one per mention that is read."""

    span: Tensor  # (entries,)
    piece: Tensor  # (entries,) flat
    sentence: Tensor  # (spans,) the distinct sentence each lies in

    @classmethod
    def of(cls, batch: Batch, pooling: str, longest: int) -> tuple[PooledSpans, Tensor]:
        """Also (mentions,) the span of each mention, -1 where it has none."""
        lengths = batch.tokens.lengths
        sentence, position = segment_of(lengths), position_of_piece(lengths)
        alone = lengths[sentence] == 1
        pooled = (position > 0) | alone if pooling == "mean" else position == 0
        read = read_pieces(lengths, longest)
        mention, piece = batch.spans[:, read[batch.spans[1]]]
        known, which = mention.unique(return_inverse=True)
        own = (pooled & read).nonzero().squeeze(1)
        span_of_mention = mention.new_full((batch.graph.mentions.shape[1],), -1)
        span_of_mention[known] = torch.arange(len(known), device=known.device) + len(lengths)
        spans = cls(
            span=torch.cat([sentence[own], which + len(lengths)]),
            piece=torch.cat([own, piece]),
            sentence=torch.cat(
                [
                    torch.arange(len(lengths), device=lengths.device),
                    batch.tokens.distinct[batch.graph.mentions[1, known]],
                ]
            ),
        )
        return spans, span_of_mention


@sentence_encoders.register("transformer", TransformerConfig)
class Transformer(PiecesEncoder):
    """Sentences are the mean of their word pieces or [CLS]; entities the mean of their mentions' word pieces."""

    def __init__(self, config: TransformerConfig, *, words: int, vectors: Tensor | None = None) -> None:
        super().__init__()
        self.config = config
        self.pieces = Pieces(config, words=words)
        self.width = self.entity_width = self.pieces.width
        self.dropout = Dropout(config.dropout)
        self._kept_in: Path | None = None
        self._cache: VectorCache | None = None
        # Cached vectors are those of other weights.
        self.register_load_state_dict_post_hook(_close_cache)  # type: ignore[no-untyped-call]

    def keep_vectors(self, folder: Path | None) -> bool:
        """Caches vectors in a folder, or nowhere (None); returns whether it does, which only a frozen one can."""
        self._kept_in = folder if self.pieces.frozen else None
        self._cache = None
        return self._open_cache() is not None

    def _open_cache(self) -> VectorCache | None:
        """The cache for the current weights."""
        if self._cache is None and self._kept_in is not None:
            architecture = json.dumps(self.config.resolved().architecture, sort_keys=True)
            self._cache = VectorCache(self._kept_in, self.pieces, architecture)
        return self._cache

    def forward(self, batch: Batch) -> Encoded:
        """(pieces,) -> (sentences, width), (entities, width)."""
        tokens, graph = batch.tokens, batch.graph
        spans, of_mention = PooledSpans.of(batch, self.config.pooling, self.pieces.longest)
        cache = self._open_cache()
        vectors = self._read(tokens, spans) if cache is None else self._cached(cache, tokens, spans)
        entities = mean_over_mentions(vectors[of_mention.clamp_min(0)], of_mention >= 0, graph)
        sentences = vectors[tokens.distinct]
        return Encoded(sentences=self.dropout(sentences), entities=entities, topics=batch.topics)

    def _read(self, tokens: Tokens, spans: PooledSpans) -> Tensor:
        """(spans, width)."""
        read = read_pieces(tokens.lengths, self.pieces.longest)
        states = self.pieces(tokens.ids[read], tokens.lengths.clamp_max(self.pieces.longest))
        number = read.cumsum(0) - 1  # of a piece among those that are read
        return segment_mean(states[number[spans.piece]], spans.span, len(spans.sentence))

    @torch.no_grad()
    def _cached(self, cache: VectorCache, tokens: Tokens, spans: PooledSpans) -> Tensor:
        """The same from the cache where possible; rounded equally, cached or not."""
        pieces = torch.split(tokens.ids, tokens.lengths.tolist())
        first = tokens.lengths.cumsum(0) - tokens.lengths
        order = torch.argsort(spans.span, stable=True)
        entries = torch.bincount(spans.span, minlength=len(spans.sentence)).tolist()
        sentences = spans.sentence.tolist()
        keys = [
            cache.key(pieces[sentence], position - first[sentence])
            for sentence, position in zip(sentences, torch.split(spans.piece[order], entries), strict=True)
        ]
        known = cache.read(keys, self.width)
        missing = torch.tensor([key not in known for key in keys], device=first.device)
        if missing.any():
            fresh = self._read(*_part(tokens, spans, missing)).half().float().cpu()
            names = [key for key in keys if key not in known]
            computed = dict(zip(names, fresh, strict=True))
            cache.write(computed)
            known |= computed
        return torch.stack([known[key] for key in keys]).to(first.device)


def _part(tokens: Tokens, spans: PooledSpans, wanted: Tensor) -> tuple[Tokens, PooledSpans]:
    """Only the wanted spans and the sentences they lie in."""
    needed = torch.zeros(len(tokens.lengths), dtype=torch.bool, device=wanted.device)
    needed[spans.sentence[wanted]] = True
    kept = needed[segment_of(tokens.lengths)]  # (pieces,)
    entry = wanted[spans.span]
    part = PooledSpans(
        span=(wanted.cumsum(0) - 1)[spans.span[entry]],
        piece=(kept.cumsum(0) - 1)[spans.piece[entry]],
        sentence=(needed.cumsum(0) - 1)[spans.sentence[wanted]],
    )
    return Tokens(tokens.ids[kept], tokens.lengths[needed], tokens.distinct), part


def _close_cache(module: Transformer, incompatible: Any) -> None:
    module._cache = None
