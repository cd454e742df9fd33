"""The relatedness that a graph's configuration asks for."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from unshuffle.errors import ConfigError
from unshuffle.graph.build import GraphConfig
from unshuffle.graph.relations import FileRelatedness, Relatedness, VectorRelatedness, no_relations
from unshuffle.text.vectors import Vectors, load_vectors


@lru_cache(maxsize=2)
def _vectors(source: str) -> Vectors:
    return load_vectors(source)


def relatedness_of(config: GraphConfig, vectors: str) -> Relatedness:
    """Word vectors above a threshold, a file of pairs, or nothing."""
    if config.relations == "none":
        return no_relations
    if config.relations == "vectors":
        return VectorRelatedness(_vectors(vectors), config.relation_threshold)
    if not config.relation_file:
        raise ConfigError("graph.relation_file: it is empty. Name the file of related words.")
    return FileRelatedness.read(Path(config.relation_file), config.relation_threshold)
