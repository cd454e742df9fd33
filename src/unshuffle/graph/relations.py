"""Which entities of a document are semantically related (the paper's ee-edges, 3.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unshuffle.errors import DataError
from unshuffle.storage.files import Read, write_text
from unshuffle.text.vectors import Vectors

RELATION_VECTORS, RELATION_WORDS, RELATION_FILE = "relations.npy", "relations.words.txt", "relations.tsv"
"""What says which words are related, as a model folder keeps it."""


@dataclass(frozen=True, slots=True)
class Related:
    """Pairs of entity numbers, each once, with their similarity in (0, 1]."""

    pairs: NDArray[np.int64]  # (2, relations)
    similarity: NDArray[np.float32]  # (relations,)


NO_RELATIONS = Related(np.empty((2, 0), np.int64), np.empty(0, np.float32))


@dataclass(frozen=True, slots=True)
class Saved:
    """Files that were written into a model folder, and the options of the system by which they are found there."""

    files: tuple[str, ...] = ()
    changes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Tables of options, such as {"graph": {"relation_file": "relations.tsv"}}."""


class Relatedness(Protocol):
    """Says which entities of a document are related."""

    def __call__(self, words: Sequence[str]) -> Related:
        """Takes the words of a document's entities."""
        ...

    def save(self, folder: Path) -> Saved:
        """Writes what it was read from into a model folder."""
        ...


@dataclass(frozen=True)
class VectorRelatedness:
    """Entities are related when the cosine of their word vectors reaches a threshold."""

    vectors: Vectors
    threshold: float
    shipped: bool = False
    """Whether the vectors are those of the package, so that no model folder needs them."""

    def save(self, folder: Path) -> Saved:
        """The vectors and their words, unless the package has them."""
        if self.shipped:
            return Saved()
        self.vectors.save(folder / RELATION_VECTORS)
        return Saved((RELATION_VECTORS, RELATION_WORDS), {"tokens": {"vectors": RELATION_VECTORS}})

    def __call__(self, words: Sequence[str]) -> Related:
        """Words without a vector are related to nothing."""
        rows = [self.vectors.row(word) for word in words]
        known = np.array([row is not None for row in rows], bool)
        if known.sum() < 2:
            return NO_RELATIONS
        matrix = self.vectors.matrix[[row or 0 for row in rows]].astype(np.float32) * known[:, None]
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-6)
        cosine = matrix @ matrix.T
        pairs = np.stack(np.nonzero(np.triu(cosine >= self.threshold, 1))).astype(np.int64)
        return Related(pairs, np.clip(cosine[pairs[0], pairs[1]], 0, 1).astype(np.float32))


@dataclass(frozen=True)
class FileRelatedness:
    """Entities are related when a file of `word<TAB>word<TAB>similarity` says so."""

    similarities: dict[tuple[str, str], float]
    threshold: float

    @classmethod
    def read(cls, path: Path, threshold: float, *, read: Read = Path.read_bytes) -> FileRelatedness:
        """Reads the whole file into memory."""
        similarities: dict[tuple[str, str], float] = {}
        try:
            lines = read(path).decode("utf-8").split("\n")
        except UnicodeDecodeError:
            raise DataError(f"{path}: it is not UTF-8 text. Write word<TAB>word<TAB>similarity lines.") from None
        except OSError as error:
            raise DataError(f"{path}: it cannot be read ({error.strerror}). Name the file of related words.") from None
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            fields = line.split("\t")
            try:
                one, other, similarity = fields[0], fields[1], float(fields[2])
            except (IndexError, ValueError):
                raise DataError(f"{path} line {number}: expected word<TAB>word<TAB>similarity.") from None
            if not math.isfinite(similarity):
                raise DataError(f"{path} line {number}: the similarity is not a number. Give one from 0 to 1.")
            similarities[min(one, other), max(one, other)] = similarity
        return cls(similarities, threshold)

    def save(self, folder: Path) -> Saved:
        """The reverse of `read`, under a name of its own."""
        self.write(folder / RELATION_FILE)
        return Saved((RELATION_FILE,), {"graph": {"relation_file": RELATION_FILE}})

    def write(self, path: Path) -> None:
        """The reverse of `read`."""
        rows = (f"{one}\t{other}\t{similarity!r}\n" for (one, other), similarity in self.similarities.items())
        write_text(path, "".join(rows))

    def __call__(self, words: Sequence[str]) -> Related:
        """Looks up every pair of words, in either order."""
        found = [
            (first, second, self.similarities.get((min(one, other), max(one, other)), 0.0))
            for first, one in enumerate(words)
            for second, other in enumerate(words)
            if first < second
        ]
        kept = [row for row in found if row[2] >= self.threshold]
        if not kept:
            return NO_RELATIONS
        pairs = np.array([row[:2] for row in kept], np.int64).T
        return Related(pairs, np.clip([row[2] for row in kept], 0, 1).astype(np.float32))
