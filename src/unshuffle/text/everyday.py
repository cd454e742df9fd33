"""The data set of everyday texts that is part of the package: whole short texts of many kinds, free to use (CC0)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unshuffle.errors import ConfigError
from unshuffle.text.document import Document

NAME = "everyday"
SPLITS = ("train", "valid", "test", "paragraphs")
"""Texts to train on, to choose by and to test on; `paragraphs` has documents whose units are paragraphs."""
FOLDER = Path(__file__).parents[1] / "data" / NAME


def split_file(name: str) -> Path | None:
    """The file of `everyday:test` and the like; None for a name that is not of this data set."""
    data_set, colon, split = name.partition(":")
    if data_set != NAME or not colon:
        return None
    if split not in SPLITS:
        raise ConfigError(f"{name}: there is no such split. Known: {', '.join(SPLITS)}.")
    return FOLDER / f"{split}.jsonl.gz"


def load(split: str) -> Iterator[Document]:
    """The documents of a split, each in its true order."""
    from unshuffle.text.readers.read import read_documents

    return read_documents(f"{NAME}:{split}")
