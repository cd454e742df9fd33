"""Made-up documents with the lengths and the graph of NIPS abstracts, so that no corpus is needed."""

from __future__ import annotations

from functools import cache

import numpy as np

from unshuffle.text.document import Document, Mention, Role
from unshuffle.text.vectors import load_vectors

VOCABULARY = 11_505
"""Words that the NIPS vocabulary has."""
SENTENCES = 2, 15
"""Fewest and most sentences of an abstract."""
WORDS = 4, 158
ROLES = {Role.OTHER: 0.695, Role.OBJECT: 0.192, Role.SUBJECT: 0.113}


@cache
def _words() -> tuple[str, ...]:
    return tuple(word for word in load_vectors().words if word.isalpha())[:VOCABULARY]


def nips_like(count: int, *, seed: int = 0) -> list[Document]:
    """Abstracts of 6.1 sentences of 25.7 words, 5.7 entities, 14.2 mentions and 8.3 linked pairs on average."""
    draw = np.random.default_rng(seed)
    # Shifted gamma and log-normal lengths: mean, spread and longest as counted on the public files.
    sizes = np.clip(np.rint(2 + draw.gamma(4.57, 0.906, count)), *SENTENCES).astype(int)
    return [_document(draw, int(size), None, f"abstract {number}") for number, size in enumerate(sizes)]


def of_size(sentences: int, words: int | None = None, *, count: int = 1, seed: int = 0) -> list[Document]:
    """Documents of so many sentences, of so many words each or as long as in abstracts."""
    draw = np.random.default_rng(seed)
    return [_document(draw, sentences, words, f"{sentences} sentences {number}") for number in range(count)]


def raw(documents: list[Document]) -> list[list[str]]:
    """Only the sentences, as a user has them."""
    return [list(document.sentences) for document in documents]


def _document(draw: np.random.Generator, sentences: int, words: int | None, id: str) -> Document:
    texts = [_sentence(draw, words) for _ in range(sentences)]
    entities = draw.choice(VOCABULARY // 8, draw.poisson(0.933 * sentences), replace=False)
    mentions = []
    for entity in entities.tolist():
        # An entity is in two sentences at least; geometric beyond, 2.47 on average.
        spread = min(2 + int(draw.geometric(1 / 1.47)) - 1, sentences)
        for sentence in draw.choice(sentences, spread, replace=False).tolist():
            role = list(ROLES)[int(draw.choice(len(ROLES), p=list(ROLES.values())))]
            mentions.append(Mention(_words()[entity], sentence, role))
            texts[sentence][int(draw.integers(len(texts[sentence])))] = _words()[entity]
    return Document(tuple(" ".join(text) for text in texts), tuple(mentions), id)


def _sentence(draw: np.random.Generator, words: int | None) -> list[str]:
    length = int(np.clip(np.rint(draw.lognormal(3.136, 0.47)), *WORDS)) if words is None else words
    ranks = (VOCABULARY ** draw.random(length)).astype(int) - 1  # Zipf: every decade of ranks is as likely
    return [_words()[rank] for rank in ranks]
