"""A document made ready for a model: word numbers and graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unshuffle.graph.build import Graph


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
