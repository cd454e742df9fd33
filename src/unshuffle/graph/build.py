"""A document as a graph of sentences and the entities they share (Lai et al., 3.1)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from unshuffle.errors import DataError
from unshuffle.graph.relations import NO_RELATIONS, Relatedness
from unshuffle.storage.files import Read, write_text
from unshuffle.text.document import Document, Mention

Indices = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class EntityRule:
    """What a noun needs to be an entity."""

    minimum_count: Annotated[int, Ge(0)] = 0
    """Sentences of the counted corpus that mention it; 0 for no counting, 21 for the rule behind the NIPS files."""
    minimum_sentences: Annotated[int, Ge(1)] = 2
    """Sentences of the document that mention it."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A word and the sentences of a document that mention it."""

    word: str
    mentions: tuple[Mention, ...]
    """Sorted by sentence, each sentence once."""


@dataclass(frozen=True, slots=True)
class EntityVocabulary:
    """The words that may be entities."""

    words: frozenset[str] | None = None
    """None where any noun may."""

    @classmethod
    def from_counts(cls, counts: Counter[str], rule: EntityRule) -> EntityVocabulary:
        """The words that a corpus mentions often enough."""
        if rule.minimum_count == 0:
            return cls()
        return cls(frozenset(word for word, count in counts.items() if count >= rule.minimum_count))

    @classmethod
    def read(cls, file: str | os.PathLike[str], *, read: Read = Path.read_bytes) -> EntityVocabulary:
        """The words of a file, one per line; a file of one empty line stands for any noun."""
        try:
            lines = read(Path(file)).decode("utf-8").split("\n")
        except UnicodeDecodeError:
            raise DataError(f"{file}: it is not UTF-8 text. Write the entities again.") from None
        except OSError as error:
            raise DataError(f"{file}: it cannot be read ({error.strerror}). Give a list of entities.") from None
        return cls() if lines == ["", ""] else cls(frozenset(line for line in lines if line))

    def write(self, file: str | os.PathLike[str]) -> None:
        """The reverse of `read`; the file is there whole or not at all."""
        text = "\n" if self.words is None else "".join(f"{word}\n" for word in sorted(self.words))
        write_text(Path(file), text)

    def allows(self, word: str) -> bool:
        """Whether the word may be an entity."""
        return self.words is None or word in self.words


def count_nouns(documents: Iterable[Document]) -> Counter[str]:
    """For each noun, how many sentences of a corpus mention it."""
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update(mention.word for mention in _mentions(document))
    return counts


def entities_of(document: Document, rule: EntityRule, vocabulary: EntityVocabulary | None = None) -> tuple[Entity, ...]:
    """A document's entities, sorted by word, since any order of the text would tell of its gold order."""
    found: dict[str, dict[int, Mention]] = {}
    for mention in _mentions(document):
        if vocabulary is None or vocabulary.allows(mention.word):
            rows = found.setdefault(mention.word, {})
            known = rows.get(mention.sentence)
            if known is None or mention.role > known.role:
                rows[mention.sentence] = mention
    return tuple(
        Entity(word, tuple(rows[sentence] for sentence in sorted(rows)))
        for word, rows in sorted(found.items())
        if len(rows) >= rule.minimum_sentences
    )


def _mentions(document: Document) -> tuple[Mention, ...]:
    if document.mentions is None:
        raise DataError(f"document '{document.id}': its nouns are not known. Run a parser over it first.")
    return document.mentions


@dataclass(frozen=True, kw_only=True)
class GraphConfig:
    """Which nodes and edges a document's graph has."""

    links: Literal["entities", "all"] = "entities"
    """`entities`: sentences that share an entity are linked, as in the paper. `all`: every pair is."""
    all_up_to: Annotated[int, Ge(2)] = 64
    """With `all`: longer documents only link sentences that share an entity, since pairs grow quadratically."""
    relations: Literal["none", "vectors", "file"] = "none"
    """Where entity-entity relations come from: word vectors, a file of pairs, or nowhere."""
    relation_threshold: float = 0.5
    """Entities are related from this cosine or similarity on."""
    relation_file: str = ""
    """With `relations = "file"`: lines of word, word, similarity, separated by tabs."""
    topics: Annotated[int, Ge(0)] = 0
    """Number of topics of a topic model fitted to the training sentences; 0 for none."""
    entities: EntityRule = field(default_factory=EntityRule)


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes are numbered from 0; each linked pair and each relation is stored once."""

    sentences: int
    words: tuple[str, ...]
    """The entities, by word."""
    mentions: Indices  # (2, mentions) entity, sentence
    roles: Indices  # (mentions,)
    pairs: Indices  # (2, pairs) two linked sentences, the lower index first
    relations: Indices  # (2, relations) two related entities
    similarity: NDArray[np.float32]  # (relations,)
    weights: NDArray[np.float32] | None = None  # (pairs,) chance that a pair's first sentence comes first

    def permuted(self, permutation: Sequence[int] | Indices) -> Graph:
        """The same graph with sentence `permutation[k]` at position k; pairs are reoriented by the new index."""
        position = np.empty(self.sentences, np.int64)
        position[np.asarray(permutation, np.int64)] = np.arange(self.sentences)
        moved = position[self.pairs]
        turned = moved[0] > moved[1]
        weights = self.weights
        if weights is not None:
            weights = np.where(turned, 1 - weights, weights).astype(np.float32)
        return replace(
            self,
            mentions=np.stack([self.mentions[0], position[self.mentions[1]]]),
            pairs=np.sort(moved, axis=0),
            weights=weights,
        )


def build_graph(
    document: Document,
    config: GraphConfig,
    *,
    vocabulary: EntityVocabulary | None = None,
    relatedness: Relatedness | None = None,
) -> Graph:
    """The graph of a document whose mentions are known; entities are numbered by word, never by where they occur."""
    entities = entities_of(document, config.entities, vocabulary)
    words = tuple(entity.word for entity in entities)
    rows = [
        (number, mention.sentence, int(mention.role))
        for number, entity in enumerate(entities)
        for mention in entity.mentions
    ]
    table = np.array(rows, np.int64).reshape(-1, 3)
    size = len(document.sentences)
    if config.links == "all" and size <= config.all_up_to:
        linked = ~np.tri(size, dtype=bool)
    else:
        occurs = np.zeros((size, len(words)), np.float32)
        occurs[table[:, 1], table[:, 0]] = 1
        linked = np.triu(occurs @ occurs.T > 0, 1)
    related = NO_RELATIONS if relatedness is None else relatedness(words)
    return Graph(
        sentences=size,
        words=words,
        mentions=np.ascontiguousarray(table[:, :2].T),
        roles=table[:, 2].copy(),
        pairs=np.stack(np.nonzero(linked)).astype(np.int64),
        relations=related.pairs,
        similarity=related.similarity,
    )
