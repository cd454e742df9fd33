"""The relatedness that a graph's configuration asks for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from unshuffle.errors import ConfigError
from unshuffle.graph.build import GraphConfig
from unshuffle.graph.relations import FileRelatedness, Relatedness, VectorRelatedness, no_relations
from unshuffle.storage.files import Read
from unshuffle.text.vectors import Vectors, load_vectors


@lru_cache(maxsize=2)
def _vectors(source: str) -> Vectors:
    return load_vectors(source)


def relatedness_of(
    config: GraphConfig, vectors: str, words: Iterable[str] | None = None, *, read: Read | None = None
) -> Relatedness:
    """Word vectors above a threshold, a file of pairs, or nothing.

    `words`: the only ones that can be related; `read` gives the bytes of files that are not the package's.
    """
    if config.relations == "none":
        return no_relations
    if config.relations == "vectors":
        shipped = vectors == "default"
        known = _vectors(vectors) if read is None or shipped else load_vectors(vectors, read=read)
        some = known if words is None else known.only(words)
        return VectorRelatedness(some, config.relation_threshold, shipped)
    if not config.relation_file:
        raise ConfigError("graph.relation_file: it is empty. Name the file of related words.")
    return FileRelatedness.read(Path(config.relation_file), config.relation_threshold, read=read or Path.read_bytes)
