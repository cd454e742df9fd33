"""What passes between the encoders and the stages after them, and what generic code may ask of an encoder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from unshuffle.graph.batch import Batch, GraphBatch
from unshuffle.parts.registry import PartConfig, Registry
from unshuffle.text.tokens import Tokenizer, TokensConfig
from unshuffle.text.vectors import Vectors, load_vectors


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


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a sentence encoder reads by, and the word vectors it begins with where it has any."""

    tokenizer: Tokenizer
    vectors: Tensor | None = None  # (words, word width)


class SentenceEncoderConfig(PartConfig):
    """Configuration of a sentence encoder; the defaults are those of an encoder that reads word vectors."""

    word_width: int
    """Width of the word vectors; not needed where `vocabulary` is overridden."""

    @property
    def reads_pieces(self) -> bool:
        """Whether it reads word pieces: entities are then found in context, by the pieces of their mentions."""
        return False

    @property
    def large(self) -> bool:
        """Whether its products are large enough for several threads to pay."""
        return False

    def vocabulary(self, sentences: Iterable[str], tokens: TokensConfig, seed: int) -> Vocabulary:
        """The tokenizer and word vectors of an untrained encoder, from the sentences it will be trained on."""
        from unshuffle.encoders.contracts import word_vocabulary

        return word_vocabulary(sentences, tokens, width=self.word_width, seed=seed)

    def fine_tuning(self) -> dict[str, Any]:
        """Options of training that suit it when a trained model is adapted; those left out keep their defaults."""
        return {}


class SentenceEncoder(nn.Module):
    """Reads each sentence on its own, unless it declares itself order-sensitive."""

    width: int
    entity_width: int
    pair_width: int = 0
    """0 where ordered pairs are not encoded."""
    order_sensitive: bool = False
    """Whether the order in which the sentences are given can change the result."""

    if TYPE_CHECKING:

        def __call__(self, batch: Batch) -> Encoded:
            """Encodes the sentences of a batch."""

    def keep_vectors(self, folder: Path | None) -> bool:
        """Keeps the vectors of frozen weights in a folder, None for no longer; whether it does."""
        return False

    def pretrained(self) -> Iterator[nn.Parameter]:
        """Parameters that may have a learning rate of their own because they are pretrained."""
        return iter(())


class ParagraphEncoder(nn.Module):
    """Lets the sentences of a document see each other."""

    width: int
    order_sensitive: bool = False

    if TYPE_CHECKING:

        def __call__(self, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
            """`weights`: (pairs,) chance that a linked pair's first sentence comes first."""

    def auxiliary_loss(self, states: States, graph: GraphBatch, position: Tensor) -> Tensor:
        """A loss of its own beside the decoder's; `position`: (sentences,) where each sentence truly stands."""
        return states.sentences.new_zeros(())


sentence_encoders: Registry[SentenceEncoder] = Registry("sentence_encoder", SentenceEncoder, SentenceEncoderConfig)
paragraph_encoders: Registry[ParagraphEncoder] = Registry("paragraph_encoder", ParagraphEncoder, PartConfig)


def word_vocabulary(sentences: Iterable[str], tokens: TokensConfig, *, width: int, seed: int) -> Vocabulary:
    """A tokenizer of words, and a vector for each of them."""
    vectors = load_vectors(tokens.vectors, width=width)
    known = vectors.words if tokens.vocabulary == "vectors" else vectors
    tokenizer = Tokenizer.of_words(sentences, known, tokens)
    return Vocabulary(tokenizer, starting_vectors(tokenizer.words(), vectors, seed))


def starting_vectors(words: Sequence[str], vectors: Vectors, seed: int) -> Tensor:
    """(words, width): words without a vector start small and random."""
    table = np.random.default_rng(seed).normal(0, 0.1, (len(words), vectors.width)).astype(np.float32)
    for number, word in enumerate(words):
        row = vectors.row(word)
        if row is not None:
            table[number] = vectors.matrix[row]
    return torch.from_numpy(table)
