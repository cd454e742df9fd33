"""Documents to items: tokenised, their graph built, ready to be collated, as many at a time as memory holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unshuffle.errors import ConfigError
from unshuffle.graph.build import EntityVocabulary, Graph, GraphConfig, build_graph
from unshuffle.graph.relations import FileRelatedness, Relatedness, Saved, VectorRelatedness
from unshuffle.graph.topics import TopicModel
from unshuffle.storage.files import Read, write_text
from unshuffle.text.document import Document
from unshuffle.text.tokens import EncodedSentence, Tokenizer
from unshuffle.text.vectors import Vectors, load_vectors

TOKENIZER, ENTITIES, TOPICS = "tokenizer.json", "entities.txt", "topics"
"""What a model folder keeps of a preparer; the last is a folder in it."""
DOCUMENTS = 256
"""Documents that are held at a time, to put those of like length into one batch."""
FIRST = (1, 8, 64)
"""Documents of the first groups."""
PAIRS = 250_000
"""Ordered pairs of sentences in one window; results hold a number for each, and 500 sentences have as many."""
CELLS = 20_000
"""Ordered pairs in one batch: the memory of encoders and search grows with them."""
WORDS = 20_000
"""Words in one batch: a word encoder keeps about 15 kB for each."""


@dataclass(frozen=True, slots=True)
class Item:
    """A document made ready once and collated many times."""

    id: str
    words: tuple[NDArray[np.int64], ...]  # one array of word numbers per sentence
    graph: Graph
    entity_words: NDArray[np.int64]  # (entities,) word number of each entity
    spans: NDArray[np.int64]  # (2, spans) mention, position of one of its word pieces in its sentence
    topics: NDArray[np.float32] | None = None  # (sentences, topics)

    def permuted(self, permutation: Sequence[int]) -> Item:
        """The same document with sentence `permutation[k]` at position k."""
        return replace(
            self,
            words=tuple(self.words[old] for old in permutation),
            graph=self.graph.permuted(permutation),
            topics=None if self.topics is None else self.topics[np.asarray(permutation)],
        )


@lru_cache(maxsize=2)
def _vectors(source: str) -> Vectors:
    return load_vectors(source)


def relatedness_of(
    config: GraphConfig, vectors: str, words: Iterable[str] | None = None, *, read: Read | None = None
) -> Relatedness | None:
    """Word vectors above a threshold, a file of pairs, or nothing.

    `words`: the only ones that can be related; `read` gives the bytes of files that are not the package's.
    """
    if config.relations == "none":
        return None
    if config.relations == "vectors":
        shipped = vectors == "default"
        known = _vectors(vectors) if read is None or shipped else load_vectors(vectors, read=read)
        some = known if words is None else known.only(words)
        return VectorRelatedness(some, config.relation_threshold, shipped)
    if not config.relation_file:
        raise ConfigError("graph.relation_file: it is empty. Name the file of related words.")
    return FileRelatedness.read(Path(config.relation_file), config.relation_threshold, read=read or Path.read_bytes)


@dataclass(frozen=True)
class Preparer:
    """Everything that turns a parsed document into what a model reads."""

    tokenizer: Tokenizer
    config: GraphConfig
    entities: EntityVocabulary | None = None
    relatedness: Relatedness | None = None
    """Which entities are related; None where none are."""
    topics: TopicModel | None = None
    spans: bool = False
    """Whether to find the word pieces of each mention, for encoders whose entities are contextual."""

    def save(self, folder: Path) -> Saved:
        """Writes everything that documents are read by into a model folder."""
        write_text(folder / TOKENIZER, self.tokenizer.json())
        files = [TOKENIZER]
        if self.entities is not None and self.entities.words is not None:
            self.entities.write(folder / ENTITIES)
            files.append(ENTITIES)
        if self.topics is not None:
            files += [f"{TOPICS}/{name}" for name in self.topics.save(folder / TOPICS)]
        related = Saved() if self.relatedness is None else self.relatedness.save(folder)
        return Saved((*files, *related.files), related.changes)

    def items(self, documents: Iterable[Document]) -> Iterator[Item]:
        """One item per document."""
        for document in documents:
            yield self.item(document)

    def item(self, document: Document) -> Item:
        """The item of one document."""
        graph = build_graph(document, self.config, vocabulary=self.entities, relatedness=self.relatedness)
        encoded = self.tokenizer.encode(document.sentences)
        return Item(
            id=document.id,
            words=tuple(sentence.ids for sentence in encoded),
            graph=graph,
            entity_words=np.array([self.tokenizer.number(word) for word in graph.words], np.int64),
            spans=_spans(document, graph, encoded) if self.spans else np.empty((2, 0), np.int64),
            topics=self.topics.of(document.sentences) if self.topics else None,
        )


def _spans(document: Document, graph: Graph, encoded: list[EncodedSentence]) -> NDArray[np.int64]:
    """Mention and word-piece position of every piece that lies in an occurrence of the mention's word."""
    rows = []
    for mention, (entity, sentence) in enumerate(graph.mentions.T):
        word = re.escape(graph.words[entity])
        text = encoded[sentence]
        for found in re.finditer(rf"(?<!\w){word}(?!\w)", document.sentences[sentence].lower()):
            for position, (start, end) in enumerate(zip(text.starts, text.ends, strict=True)):
                if found.start() <= start < end <= found.end():
                    rows.append((mention, position))
    return np.array(rows, np.int64).reshape(-1, 2).T.copy()


def windows(documents: Iterable[tuple[int, Document]]) -> Iterator[list[tuple[int, Document]]]:
    """Numbered documents in groups small enough to be held whole together with their results.

    The first groups are small, so that whoever reads the results has not long to wait for the first.
    """
    window: list[tuple[int, Document]] = []
    pairs = 0
    sizes = chain(FIRST, repeat(DOCUMENTS))
    most = next(sizes)
    for number, document in documents:
        square = len(document.sentences) ** 2
        if window and pairs + square > PAIRS:
            yield window
            window, pairs, most = [], 0, next(sizes)
        window.append((number, document))
        pairs += square
        if len(window) >= most:  # at once, and not when the next one comes: somebody may be typing it
            yield window
            window, pairs, most = [], 0, next(sizes)
    if window:
        yield window


def batches(items: Sequence[Item], most: int) -> Iterator[list[int]]:
    """Numbers of documents of like length, at most `most` at a time and fewer where they are long."""
    sizes = [item.graph.sentences for item in items]
    words = [sum(map(len, item.words)) for item in items]
    by_length = sorted(range(len(items)), key=lambda number: (sizes[number], words[number]))
    start = 0
    while start < len(by_length):
        end = min(start + most, len(by_length))
        while end - start > 1 and not _fits(by_length[start:end], sizes, words):
            end = start + (end - start) // 2
        yield by_length[start:end]
        start = end


def _fits(numbers: Sequence[int], sizes: Sequence[int], words: Sequence[int]) -> bool:
    cells = len(numbers) * sizes[numbers[-1]] ** 2
    return cells <= CELLS and sum(words[number] for number in numbers) <= WORDS
