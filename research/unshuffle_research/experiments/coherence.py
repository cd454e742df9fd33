"""Coherence probability of a text (Nayeem and Chali, TextGraphs-11, 2017), reconstructed.

The definition was not at hand in print; this is how it is quoted: the mean over neighbouring sentences of
weight * shared entities + (1 - weight) * cosine, where shared entities are counted as a share of the smaller set and
the cosine is that of averaged word vectors. Entities are the nouns that the parser finds, not named entities only.
Figures compare systems with each other; they do not compare with the paper's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unshuffle.text.document import Document
from unshuffle.text.tokenizer_file import WORD
from unshuffle.text.vectors import Vectors

_WORD = re.compile(WORD)


@dataclass(frozen=True)
class Neighbours:
    """How near any two sentences of a document are."""

    shared: NDArray[np.float64]  # (sentences, sentences)
    cosine: NDArray[np.float64]  # (sentences, sentences)

    def coherence(self, order: Sequence[int], weight: float) -> float:
        """The mean over neighbours in this order; 1 for a single sentence."""
        if len(order) < 2:
            return 1.0
        first, second = np.asarray(order[:-1]), np.asarray(order[1:])
        return float((weight * self.shared[first, second] + (1 - weight) * self.cosine[first, second]).mean())


def neighbours(document: Document, vectors: Vectors) -> Neighbours:
    """The tables of a document whose mentions are known."""
    size = len(document.sentences)
    words: list[set[str]] = [set() for _ in range(size)]
    for mention in document.mentions or ():
        words[mention.sentence].add(mention.word)
    shared = np.array([[_overlap(one, other) for other in words] for one in words])
    means = np.stack([_mean(sentence, vectors) for sentence in document.sentences])
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    units = means / np.where(norms == 0, 1, norms)
    return Neighbours(shared, units @ units.T)


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def _mean(sentence: str, vectors: Vectors) -> NDArray[np.float64]:
    rows = [row for word in _WORD.findall(sentence.lower()) if (row := vectors.row(word)) is not None]
    if not rows:
        return np.zeros(vectors.width)
    mean: NDArray[np.float64] = np.asarray(vectors.matrix[rows], np.float64).mean(0)
    return mean
