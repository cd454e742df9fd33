"""Documents of the splits of a data set, made ready for training, and their numbers in random batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from tqdm import tqdm

from unshuffle.errors import DataError
from unshuffle.graph.prepare import Item
from unshuffle.machine import idle_processors
from unshuffle.text.document import Document
from unshuffle.text.parsing.corpus import CachedParser, parallel_nouns
from unshuffle.text.parsing.mentions import load_parser
from unshuffle.text.readers.formats import SUFFIXES
from unshuffle.text.readers.read import read_documents

MANY = 5_000
"""Sentences that are worth the start of several processes."""
NAMES = {"train": ("train",), "valid": ("valid", "val", "dev"), "test": ("test",)}
Result = TypeVar("Result")
GROUP = 20
"""Batches that are drawn together and sorted among themselves."""


@dataclass(frozen=True)
class Splits:
    """The documents of a data set, each in its true order."""

    train: tuple[Document, ...]
    valid: tuple[Document, ...]
    test: tuple[Document, ...]

    @property
    def hash(self) -> str:
        """Of all texts and mentions, in order."""
        digest = hashlib.sha256()
        for documents in (self.train, self.valid, self.test):
            for document in documents:
                digest.update(repr((document.sentences, document.mentions)).encode("utf-8", "surrogatepass"))
            digest.update(b"\0")
        return digest.hexdigest()[:16]

    def check(self) -> None:
        """Refuses documents from which nothing can be learned, or by which no epoch can be chosen."""
        for name, documents in (("training", self.train), ("validation", self.valid)):
            if not any(len(document.sentences) > 1 for document in documents):
                raise DataError(
                    f"{name}: none of its {len(documents)} documents has two sentences. Give some that have an order."
                )


def find_split(folder: Path, split: str) -> Path | None:
    """The file of a split, in whichever format it is there."""
    endings = [suffix + packed for suffix in SUFFIXES for packed in ("", ".gz", ".xz")]
    for name in NAMES[split]:
        for ending in endings:
            if (folder / f"{name}{ending}").is_file():
                return folder / f"{name}{ending}"
    return None


def check_splits(folder: Path) -> None:
    """Refuses a folder without a file to train on or one to choose by."""
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder. Give one with train, valid and test files.")
    for split in ("train", "valid"):
        if find_split(folder, split) is None:
            raise DataError(
                f"{folder}: there is no {split} file. Name it {split}.jsonl, .parquet, .tsv, .txt or .lower."
            )


def read_splits(folder: Path) -> Splits:
    """A folder with train, valid and (if there) test files."""
    check_splits(folder)
    read: dict[str, tuple[Document, ...]] = {}
    for split in NAMES:
        file = find_split(folder, split)
        read[split] = tuple(read_documents(file)) if file else ()
        if file is not None and not read[split]:
            raise DataError(f"{file}: there are no documents in it. Give at least one.")
    return Splits(**read)


def parsed(documents: Sequence[Document], parser: str, cache: Path) -> tuple[Document, ...]:
    """The documents with mentions; those that bring their own keep them. Many are parsed on all idle processors."""
    bare = [document for document in documents if document.mentions is None]
    if not bare:
        return tuple(documents)
    cached = CachedParser(load_parser(parser, allow_path=True), cache)
    processes = idle_processors()
    if parser != "none" and processes > 1 and sum(len(document.sentences) for document in bare) >= MANY:
        sentences = cached.missing(sentence for document in bare for sentence in document.sentences)
        if len(sentences) >= MANY:
            found = parallel_nouns(parser, sentences, processes)
            # Where a process dies, what it left undone is parsed here: a script without a guard for `__main__`, which
            # new processes would run again, is one reason.
            with suppress(BrokenProcessPool):
                cached.keep(sentences, _shown(found, "parsing", len(sentences)))
    return tuple(_shown(cached.mentions(documents), "parses", len(documents)))


def _shown(results: Iterable[Result], what: str, total: int) -> Iterable[Result]:
    """With a bar where stderr is a terminal."""
    bar: Iterable[Result] = tqdm(results, desc=what, total=total, leave=False, disable=None)
    return bar


def sentences_of(documents: Iterable[Document]) -> Iterable[str]:
    """All sentences in turn."""
    return (sentence for document in documents for sentence in document.sentences)


def epoch_batches(items: Sequence[Item], teach: Sequence[int], size: int, seed: int) -> list[list[int]]:
    """Numbers of the documents of each step of one epoch; every document of `teach` once, decided by the seed alone.

    Documents are permuted, cut into groups of some batches, sorted by longest sentence within a group, and the batches
    are permuted again: what meets in a batch changes from epoch to epoch, and short and long batches alternate.
    """
    draw = np.random.default_rng(seed)
    order = draw.permutation(np.asarray(teach, np.int64)).tolist()
    batches = []
    for start in range(0, len(order), GROUP * size):
        group = sorted(order[start : start + GROUP * size], key=lambda number: _longest(items[number]))
        batches += [group[first : first + size] for first in range(0, len(group), size)]
    return [batches[number] for number in draw.permutation(len(batches)).tolist()]


def _longest(item: Item) -> int:
    return max(map(len, item.words))
