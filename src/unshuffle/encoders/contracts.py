"""What passes between the encoders and the stages after them; the shapes are the contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from unshuffle.graph.batch import Batch, GraphBatch
from unshuffle.parts.registry import Registry


@dataclass(frozen=True, slots=True)
class Encoded:
    """What the words alone say about sentences, entities and, for pair encoders, ordered pairs."""

    sentences: Tensor  # (sentences, width)
    entities: Tensor  # (entities, entity width)
    pairs: Tensor | None = None  # (ordered pairs, pair width), in the order of graph.pairs.ordered_pairs
    topics: Tensor | None = None  # (sentences, topics)


@dataclass(frozen=True, slots=True)
class States:
    """What sentences and documents look like once they have seen each other."""

    encoded: Encoded
    sentences: Tensor  # (sentences, state width)
    documents: Tensor  # (documents, state width)
    windows: Tensor | None = None  # (ordered pairs, windows) logits: the second follows the first within each window


class SentenceEncoder(Protocol):
    """Reads each sentence on its own, unless it declares itself order-sensitive."""

    width: int
    entity_width: int
    pair_width: int
    """0 where ordered pairs are not encoded."""
    order_sensitive: bool
    """Whether the order in which the sentences are given can change the result."""

    def __call__(self, batch: Batch) -> Encoded:
        """Encodes the sentences of a batch."""
        ...


class ParagraphEncoder(Protocol):
    """Lets the sentences of a document see each other."""

    width: int
    order_sensitive: bool

    def __call__(self, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
        """`weights`: (pairs,) chance that a linked pair's first sentence comes first."""
        ...


sentence_encoders: Registry[SentenceEncoder] = Registry("sentence_encoder")
paragraph_encoders: Registry[ParagraphEncoder] = Registry("paragraph_encoder")
