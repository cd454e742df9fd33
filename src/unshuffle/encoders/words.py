"""The vocabulary of encoders that read words: those of the training documents, and the vectors they begin with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from unshuffle.encoders.contracts import Vocabulary
from unshuffle.text.tokens import Tokenizer, TokensConfig
from unshuffle.text.vectors import Vectors, load_vectors


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
