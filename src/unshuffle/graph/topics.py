"""Topic vectors of sentences, for systems that match neighbours by topic (Oh et al., 2019)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from unshuffle.errors import ConfigError, DataError, MissingExtra
from unshuffle.storage.files import Read, write_text, write_whole

WORD = re.compile(r"[^\W\d_]{3,}")
VOCABULARY, MATRIX = "topics.json", "topics.safetensors"
STEPS = 100
SMALL_CHANGE = 1e-3
"""Inference ends after STEPS steps, or when topics change less than this on average."""


class TopicModel(Protocol):
    """Gives each sentence a distribution over topics."""

    def of(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """(sentences, topics), rows add up to 1."""
        ...

    def save(self, folder: Path) -> tuple[str, ...]:
        """Writes itself into a folder; the names of the files."""
        ...


@dataclass(frozen=True, kw_only=True)
class LDAConfig:
    """How topics are learned from the sentences of a corpus."""

    topics: Annotated[int, Ge(2)] = 100
    minimum_count: Annotated[int, Ge(1)] = 5
    """Words in fewer sentences are left out."""
    most_common: Annotated[float, Gt(0), Le(1)] = 0.1
    """Words in a larger share of the sentences are left out."""
    passes: Annotated[int, Ge(1)] = 10
    """Passes over the corpus."""
    seed: int = 0


@dataclass(frozen=True, eq=False)
class LDATopics:
    """Latent Dirichlet allocation (Blei et al., 2003): a sentence is a mixture of topics, a topic a mixture of words.

    Assumptions, since only the abstract of Oh et al. was available: topics are learned from and inferred for single
    sentences (the paper's TGCM-S), words are lowercased and of three letters or more, very rare and very common ones
    are left out, and the prior of a topic is 1 / topics. A sentence without known words has all topics equally.
    """

    words: tuple[str, ...]
    matrix: NDArray[np.float32]
    """(topics, words) exp E[log chance of a word in a topic], all that inference needs."""
    prior: float
    _rows: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index the words."""
        object.__setattr__(self, "_rows", {word: row for row, word in enumerate(self.words)})

    @classmethod
    def fit(cls, sentences: Iterable[str], config: LDAConfig) -> LDATopics:
        """Learns topics from a corpus by online variational Bayes."""
        decomposition, sparse = _learner(), import_module("scipy.sparse")
        counts = [Counter(_words(sentence)) for sentence in sentences]
        spread = Counter(word for words in counts for word in words)
        most = config.most_common * len(counts)
        words = sorted(word for word, count in spread.items() if config.minimum_count <= count <= most)
        if not words:
            raise DataError(
                "topics: no word of the corpus is frequent enough. Give more text or a lower minimum_count."
            )
        rows = {word: row for row, word in enumerate(words)}
        known = [[(rows[word], count) for word, count in found.items() if word in rows] for found in counts]
        ends = np.cumsum([0, *(len(found) for found in known)])
        columns, values = (np.array([entry[part] for found in known for entry in found], np.int64) for part in (0, 1))
        learner = decomposition.LatentDirichletAllocation(
            n_components=config.topics,
            learning_method="online",
            max_iter=config.passes,
            random_state=config.seed,
            n_jobs=1,
        )
        learner.fit(sparse.csr_matrix((values, columns, ends), shape=(len(counts), len(words))))
        return cls(tuple(words), _expected(learner.components_), 1 / config.topics)

    @property
    def topics(self) -> int:
        """How many topics there are."""
        return len(self.matrix)

    def of(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """(sentences, topics), rows add up to 1; each sentence on its own."""
        return np.stack([self._infer(sentence) for sentence in sentences])

    def save(self, folder: Path) -> tuple[str, ...]:
        """Writes the vocabulary as JSON and the matrix as safetensors; the names of the files."""
        from safetensors.numpy import save_file

        write_text(folder / VOCABULARY, json.dumps({"prior": self.prior, "words": self.words}, ensure_ascii=False))
        matrix = np.ascontiguousarray(self.matrix)
        write_whole(folder / MATRIX, lambda temporary: save_file({"topics": matrix}, temporary))
        return VOCABULARY, MATRIX

    @classmethod
    def load(cls, folder: Path, *, read: Read = Path.read_bytes) -> LDATopics:
        """The reverse of `save`."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            content = json.loads(read(folder / VOCABULARY).decode("utf-8"))
            words, prior = tuple(str(word) for word in content["words"]), float(content["prior"])
            matrix = load(read(folder / MATRIX))["topics"].astype(np.float32)
        except (OSError, ValueError, KeyError, TypeError, RecursionError, SafetensorError) as error:
            raise ConfigError(f"{folder}: its topics cannot be read ({error}). Copy the whole model folder.") from None
        if matrix.ndim != 2 or matrix.shape[1] != len(words) or not np.isfinite(matrix).all() or not prior > 0:
            raise ConfigError(f"{folder}: topics and words do not match. Copy the whole model folder.")
        return cls(words, matrix, prior)

    def _infer(self, sentence: str) -> NDArray[np.float32]:
        """Coordinate ascent on one sentence (Hoffman et al., 2010, algorithm 1, E step)."""
        counts = Counter(self._rows[word] for word in _words(sentence) if word in self._rows)
        if not counts:
            return np.full(self.topics, 1 / self.topics, np.float32)
        chance = self.matrix[:, list(counts)].astype(np.float64)  # (topics, known words)
        count = np.array(list(counts.values()), np.float64)
        mixture = np.ones(self.topics)
        for _ in range(STEPS):
            before = mixture
            theta = np.exp(_expected_log(mixture))
            mixture = self.prior + theta * (chance @ (count / (theta @ chance + np.finfo(float).eps)))
            if np.abs(mixture - before).mean() < SMALL_CHANGE:
                break
        shares: NDArray[np.float32] = (mixture / mixture.sum()).astype(np.float32)
        return shares


def _words(sentence: str) -> list[str]:
    return WORD.findall(sentence.lower())


def _expected_log(counts: NDArray[Any]) -> NDArray[np.float64]:
    """E[log p] under a Dirichlet with these counts, along the last axis."""
    digamma = import_module("scipy.special").digamma
    expected: NDArray[np.float64] = digamma(counts) - digamma(counts.sum(-1, keepdims=True))
    return expected


def _expected(counts: NDArray[Any]) -> NDArray[np.float32]:
    return np.exp(_expected_log(counts)).astype(np.float32)


def _learner() -> Any:
    try:
        return import_module("sklearn.decomposition")
    except ModuleNotFoundError:
        raise MissingExtra("Learning topics", "topics") from None
