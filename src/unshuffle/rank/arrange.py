"""What all rankers of pair probabilities share: sentences labelled by content, and input indices in the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unshuffle.errors import DataError
from unshuffle.rank.constraints import Constraints, Rules
from unshuffle.rank.ranking import FloatArray, IntArray, Ranking, checked, log_weights, order_score


def text_keys(sentences: Sequence[str]) -> FloatArray:
    """A number in [0, 1) for each text that depends on nothing but the text."""
    digests = (blake2b(sentence.encode("utf-8", "surrogatepass"), digest_size=8).digest() for sentence in sentences)
    return np.array([(int.from_bytes(digest, "big") >> 11) / 2**53 for digest in digests], dtype=np.float64)


def content_order(probability: FloatArray, tie_key: ArrayLike | None = None) -> IntArray:
    """The sentences sorted by key, then by their pair probabilities, whatever the input's labels are."""
    colour = _key_colours(len(probability), tie_key)
    if colour.max(initial=0) + 1 < len(probability):
        colour = _refined(probability, colour)
    return _drawn(colour, probability)


def row_order(rows: FloatArray, tie_key: ArrayLike | None = None) -> IntArray:
    """The sentences sorted by key, then by their rows of scores."""
    colour = _key_colours(len(rows), tie_key)
    return _drawn(_distinct(np.column_stack([colour, rows])), rows)


def _key_colours(sentences: int, tie_key: ArrayLike | None) -> NDArray[np.int64]:
    """Equal keys share a colour; colours are numbered by rising key."""
    if tie_key is None:
        return np.zeros(sentences, dtype=np.int64)
    key = np.asarray(tie_key, dtype=np.float64)
    if key.shape != (sentences,) or np.isnan(key).any():
        raise DataError(f"rank: tie_key has shape {key.shape} for {sentences} sentences. Give one number per sentence.")
    return np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _refined(probability: FloatArray, colour: NDArray[np.int64]) -> NDArray[np.int64]:
    """Tells sentences apart by their sorted rows, then by the colours these rows lead to, until nothing changes."""
    sentences = len(probability)
    value = np.unique(probability, return_inverse=True)[1].reshape(sentences, sentences).astype(np.int64)
    pair = np.unique(value * (value.max() + 1) + value.T, return_inverse=True)[1].reshape(sentences, sentences)
    np.fill_diagonal(pair, -1)
    while True:
        seen = np.sort(pair * sentences + colour, axis=1)  # (sentences, sentences)
        finer = _distinct(np.column_stack([colour, seen]))
        if finer.max() == colour.max():
            return finer
        colour = finer


def _distinct(rows: NDArray[np.generic]) -> NDArray[np.int64]:
    return (
        np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        if len(rows)
        else np.zeros(0, np.int64)
    )


def _drawn(colour: NDArray[np.int64], content: FloatArray) -> IntArray:
    """Sorted by colour; sentences that nothing tells apart are drawn by lot, since input order could be gold order."""
    if colour.max(initial=-1) + 1 == len(colour):
        return np.argsort(colour)
    seed = int.from_bytes(blake2b(np.sort(content, axis=None).tobytes(), digest_size=8).digest(), "big")
    return np.lexsort((np.random.default_rng(seed).permutation(len(colour)), colour))


@dataclass(frozen=True, slots=True, eq=False)
class Arranged:
    """A ranking problem whose sentences are numbered by content, so that lower numbers may win ties."""

    probability: FloatArray
    weight: FloatArray
    """What putting row before column adds to the score."""
    rules: Rules
    labels: IntArray
    """The input index of each sentence."""

    def __len__(self) -> int:
        """How many sentences there are."""
        return len(self.labels)

    def ranking(self, order: Sequence[int]) -> Ranking:
        """An order over content labels as a ranking of the input."""
        return Ranking(tuple(int(self.labels[at]) for at in order), order_score(self.weight, order))


def arrange(
    probability: ArrayLike,
    constraints: Constraints | None = None,
    tie_key: ArrayLike | None = None,
) -> Arranged:
    """Checks the probabilities and renumbers the sentences by content."""
    matrix = checked(probability)
    labels = content_order(matrix, tie_key)
    rules = Rules.free(len(matrix)) if constraints is None else constraints.rules(len(matrix)).relabelled(labels)
    # Renumbered before any arithmetic: sums in another order would round differently and so break ties.
    matrix = matrix[labels][:, labels]
    return Arranged(matrix, log_weights(matrix), rules, labels)
