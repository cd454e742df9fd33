"""Items to one batch of graphs, laid end to end: nothing is padded before the decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshuffle.graph.prepare import Item


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words of all distinct sentences, concatenated; equal sentences are encoded once."""

    ids: Tensor  # (words,)
    lengths: Tensor  # (distinct,)
    distinct: Tensor  # (sentences,) which distinct sentence each sentence is


@dataclass(frozen=True, slots=True)
class GraphBatch:
    """The edges of all documents of a batch, by flat node number."""

    pairs: Tensor  # (2, pairs) linked sentences, the lower index first
    mentions: Tensor  # (2, mentions) entity, sentence
    roles: Tensor  # (mentions,)
    relations: Tensor  # (2, relations) related entities, each pair once
    similarity: Tensor  # (relations,)
    sizes: Tensor  # (documents,) sentences of each document
    entity_counts: Tensor  # (documents,)
    document_of_sentence: Tensor  # (sentences,)
    document_of_entity: Tensor  # (entities,)

    @property
    def documents(self) -> int:
        """Number of documents."""
        return len(self.sizes)

    @property
    def sentences(self) -> int:
        """Number of sentences of all documents."""
        return len(self.document_of_sentence)

    @property
    def entities(self) -> int:
        """Number of entities of all documents."""
        return len(self.document_of_entity)

    @property
    def first_sentence(self) -> Tensor:
        """(documents,) flat number of each document's sentence 0."""
        return self.sizes.cumsum(0) - self.sizes

    def links(self) -> Tensor:
        """(2, 2 pairs): target and source of every directed link, all pairs forward, then all backward."""
        return torch.cat([self.pairs, self.pairs.flip(0)], 1)


@dataclass(frozen=True, slots=True)
class Batch:
    """What a model sees of some documents; the true order is not in it."""

    tokens: Tokens
    graph: GraphBatch
    entity_words: Tensor  # (entities,)
    spans: Tensor  # (2, spans) mention, flat word
    topics: Tensor | None  # (sentences, topics)
    weights: Tensor | None  # (pairs,) precomputed link weights, used instead of a refiner's

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        return to_device(self, device)


Holder = TypeVar("Holder")


def to_device(holder: Holder, device: torch.device | str) -> Holder:
    """A frozen dataclass of tensors (and of such dataclasses) on another device."""
    fields = {}
    for name in holder.__dataclass_fields__:  # type: ignore[attr-defined]
        value = getattr(holder, name)
        if isinstance(value, Tensor):
            fields[name] = value.to(device)
        elif hasattr(value, "__dataclass_fields__"):
            fields[name] = to_device(value, device)
    return replace(holder, **fields)  # type: ignore[type-var]


def collate(items: Sequence[Item]) -> Batch:
    """Concatenates documents and shifts their node numbers."""
    sizes = np.array([item.graph.sentences for item in items], np.int64)
    entity_counts = np.array([len(item.graph.words) for item in items], np.int64)
    first_sentence = sizes.cumsum() - sizes
    first_entity = entity_counts.cumsum() - entity_counts
    known: dict[bytes, int] = {}
    texts: list[NDArray[np.int64]] = []
    distinct: list[int] = []
    for item in items:
        for words in item.words:
            number = known.setdefault(words.tobytes(), len(known))
            if number == len(texts):
                texts.append(words)
            distinct.append(number)
    lengths = np.array([len(words) for words in texts], np.int64)
    first_word = lengths.cumsum() - lengths
    firsts = np.stack([first_entity, first_sentence], 1)[..., None]  # (documents, 2, 1)
    graphs = [item.graph for item in items]
    weights = [graph.weights for graph in graphs if graph.weights is not None]
    topics = [item.topics for item in items if item.topics is not None]
    graph = GraphBatch(
        pairs=_joined([graph.pairs + first for graph, first in zip(graphs, first_sentence, strict=True)]),
        mentions=_joined([graph.mentions + first for graph, first in zip(graphs, firsts, strict=True)]),
        roles=_joined([graph.roles for graph in graphs]),
        relations=_joined([graph.relations + first for graph, first in zip(graphs, first_entity, strict=True)]),
        similarity=_joined([graph.similarity for graph in graphs]),
        sizes=torch.from_numpy(sizes),
        entity_counts=torch.from_numpy(entity_counts),
        document_of_sentence=torch.from_numpy(np.repeat(np.arange(len(items)), sizes)),
        document_of_entity=torch.from_numpy(np.repeat(np.arange(len(items)), entity_counts)),
    )
    return Batch(
        tokens=Tokens(_joined(texts), torch.from_numpy(lengths), torch.tensor(distinct)),
        graph=graph,
        entity_words=_joined([item.entity_words for item in items]),
        spans=_flat_spans(items, np.array(distinct), first_sentence, first_word),
        topics=_joined(topics, axis=0) if topics else None,
        weights=_joined(weights) if len(weights) == len(items) else None,
    )


def _joined(arrays: Sequence[NDArray[Any]], axis: int = -1) -> Tensor:
    return torch.from_numpy(np.concatenate(arrays, axis=axis))


def _flat_spans(
    items: Sequence[Item], distinct: NDArray[np.int64], first_sentence: NDArray[np.int64], first_word: NDArray[np.int64]
) -> Tensor:
    rows = []
    mentions_before = 0
    for item, first in zip(items, first_sentence, strict=True):
        mention, position = item.spans
        sentence = item.graph.mentions[1][mention] + first
        rows.append(np.stack([mention + mentions_before, first_word[distinct[sentence]] + position]))
        mentions_before += item.graph.mentions.shape[1]
    return torch.from_numpy(np.concatenate(rows, axis=1))


@dataclass(frozen=True, slots=True)
class Selection:
    """The graph of some documents, and where its nodes and pairs were in the whole."""

    graph: GraphBatch
    sentences: Tensor  # (kept sentences,)
    entities: Tensor  # (kept entities,)
    pairs: Tensor  # (kept pairs,)


def select(graph: GraphBatch, keep: Tensor) -> Selection:
    """`keep`: (documents,) which documents to keep."""
    kept_sentence, kept_entity = keep[graph.document_of_sentence], keep[graph.document_of_entity]
    kept_pair, kept_mention = kept_sentence[graph.pairs[0]], kept_sentence[graph.mentions[1]]
    kept_relation = kept_entity[graph.relations[0]]
    sentence, entity, document = (kept.cumsum(0) - 1 for kept in (kept_sentence, kept_entity, keep))  # new numbers
    smaller = GraphBatch(
        pairs=sentence[graph.pairs[:, kept_pair]],
        mentions=torch.stack([entity[graph.mentions[0, kept_mention]], sentence[graph.mentions[1, kept_mention]]]),
        roles=graph.roles[kept_mention],
        relations=entity[graph.relations[:, kept_relation]],
        similarity=graph.similarity[kept_relation],
        sizes=graph.sizes[keep],
        entity_counts=graph.entity_counts[keep],
        document_of_sentence=document[graph.document_of_sentence[kept_sentence]],
        document_of_entity=document[graph.document_of_entity[kept_entity]],
    )
    return Selection(smaller, *(kept.nonzero().squeeze(1) for kept in (kept_sentence, kept_entity, kept_pair)))


def ordered_pairs(graph: GraphBatch) -> Tensor:
    """(2, ordered pairs) all i != j of a document: document by document, all pairs (0, j), then (1, j), and so on."""
    others = (graph.sizes - 1)[graph.document_of_sentence]  # (sentences,)
    one = torch.arange(graph.sentences, device=others.device).repeat_interleave(others)
    column = torch.arange(len(one), device=others.device) - (others.cumsum(0) - others)[one]
    first = graph.first_sentence[graph.document_of_sentence][one]
    return torch.stack([one, first + column + (column >= one - first).long()])


def pair_numbers(graph: GraphBatch, one: Tensor, other: Tensor) -> Tensor:
    """Where each ordered pair (one, other) of flat sentence numbers stands in `ordered_pairs`."""
    document = graph.document_of_sentence[one]
    counts = graph.sizes * (graph.sizes - 1)
    first_pair, first_sentence = counts.cumsum(0) - counts, graph.first_sentence
    row, column = one - first_sentence[document], other - first_sentence[document]
    return first_pair[document] + row * (graph.sizes[document] - 1) + column - (column > row).long()
