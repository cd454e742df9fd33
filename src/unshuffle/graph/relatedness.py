"""The relatedness that a graph's configuration asks for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from unshuffle.errors import ConfigError
from unshuffle.graph.build import GraphConfig
from unshuffle.graph.relations import FileRelatedness, Relatedness, VectorRelatedness, no_relations
from unshuffle.text.vectors import Vectors, load_vectors


@lru_cache(maxsize=2)
def _vectors(source: str) -> Vectors:
    return load_vectors(source)


def relatedness_of(config: GraphConfig, vectors: str, words: Iterable[str] | None = None) -> Relatedness:
    """Word vectors above a threshold, a file of pairs, or nothing; `words`: the only ones that can be related."""
    if config.relations == "none":
        return no_relations
    if config.relations == "vectors":
        known = _vectors(vectors)
        return VectorRelatedness(known if words is None else known.only(words), config.relation_threshold)
    if not config.relation_file:
        raise ConfigError("graph.relation_file: it is empty. Name the file of related words.")
    return FileRelatedness.read(Path(config.relation_file), config.relation_threshold)
