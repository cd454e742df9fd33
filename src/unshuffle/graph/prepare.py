"""Documents to items: tokenised, their graph built, ready to be collated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unshuffle.graph.build import Graph, GraphConfig, build_graph
from unshuffle.graph.item import Item
from unshuffle.graph.relations import Relatedness, Saved, no_relations
from unshuffle.graph.topics import TopicModel
from unshuffle.storage.files import write_text
from unshuffle.text.document import Document
from unshuffle.text.entities import EntityVocabulary
from unshuffle.text.tokens import EncodedSentence, Tokenizer

TOKENIZER, ENTITIES, TOPICS = "tokenizer.json", "entities.txt", "topics"
"""What a model folder keeps of a preparer; the last is a folder in it."""


@dataclass(frozen=True)
class Preparer:
    """Everything that turns a parsed document into what a model reads."""

    tokenizer: Tokenizer
    config: GraphConfig
    entities: EntityVocabulary | None = None
    relatedness: Relatedness = field(default=no_relations)
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
        related = self.relatedness.save(folder)
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
    """Mention and word-piece place of every piece that lies in an occurrence of the mention's word."""
    rows = []
    for mention, (entity, sentence) in enumerate(graph.mentions.T):
        word = re.escape(graph.words[entity])
        text = encoded[sentence]
        for found in re.finditer(rf"(?<!\w){word}(?!\w)", document.sentences[sentence].lower()):
            for place, (start, end) in enumerate(zip(text.starts, text.ends, strict=True)):
                if found.start() <= start < end <= found.end():
                    rows.append((mention, place))
    return np.array(rows, np.int64).reshape(-1, 2).T.copy()
