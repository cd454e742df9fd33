"""One door to all formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, get_args

from unshuffle.errors import ConfigError, DataError
from unshuffle.parts.registry import did_you_mean
from unshuffle.text.document import Document
from unshuffle.text.readers.formats import SUFFIXES, Format, OnBroken
from unshuffle.text.readers.lower import read_lower
from unshuffle.text.readers.parquet import read_parquet
from unshuffle.text.readers.plain import read_lines, read_text
from unshuffle.text.readers.records import read_json, read_jsonl
from unshuffle.text.readers.source import Source
from unshuffle.text.readers.table import read_csv, read_tsv
from unshuffle.text.split import Unit

EVERYDAY = Path(__file__).parents[2] / "data" / "everyday"
"""The data set that is part of the package: whole short texts of many kinds, free to use (CC0)."""
EVERYDAY_SPLITS = ("train", "valid", "test", "paragraphs")
"""Texts to train on, to choose by and to test on; `paragraphs` has documents whose units are paragraphs."""
SHOWN = 5
"""How many messages are kept."""
Reader = Callable[..., Iterator[Document | DataError]]
FORMATS: dict[Format, Reader] = {
    "jsonl": read_jsonl,
    "json": read_json,
    "parquet": read_parquet,
    "csv": read_csv,
    "tsv": read_tsv,
    "lines": read_lines,
    "text": read_text,
    "lower": read_lower,
}
"""The formats by name. A reader gives documents and, for broken records, errors; it raises only what ends it."""
SPLIT: tuple[Format, ...] = ("text", "jsonl", "json", "csv", "tsv")
"""Formats that may hold running text."""


@dataclass(slots=True)
class ReadReport:
    """Counts what was read and what was skipped; readers add to it as they go."""

    documents: int = 0
    skipped: int = 0
    messages: list[str] = field(default_factory=list)
    """The first few reasons."""

    def skip(self, message: str) -> None:
        """Count a record that was skipped."""
        self.skipped += 1
        if len(self.messages) < SHOWN:
            self.messages.append(message)


def read_documents(
    source: str | os.PathLike[str] | IO[Any],
    format: str | None = None,
    on_error: OnBroken = "stop",
    report: ReadReport | None = None,
    unit: Unit = "sentence",
) -> Iterator[Document]:
    """The documents of a file or stream, packed or not, one at a time in constant memory.

    Without a format the name's ending tells it. A broken record raises a DataError, or is counted in the report.
    Running text, a whole file or a field `text`, is split into sentences or paragraphs by `unit`; all else is split
    already.
    """
    found = _source(source)
    if format is None:
        format = SUFFIXES.get(found.suffix)
        if format is None:
            known = ", ".join(sorted(FORMATS))
            raise ConfigError(f"{found.name}: its name does not tell the format. Name one of: {known}.")
    if format not in FORMATS:
        raise ConfigError(f"there is no format '{format}'.{did_you_mean(format, FORMATS)}")
    if on_error not in get_args(OnBroken):
        raise ConfigError(f"on_error is '{on_error}'. Use 'stop' or 'skip'.")
    reader = FORMATS[format]
    if format in SPLIT:
        reader = partial(reader, unit=unit)
    return _documents(found, reader, on_error == "skip", report if report is not None else ReadReport())


def _documents(source: Source, reader: Reader, skip: bool, report: ReadReport) -> Iterator[Document]:
    try:
        for record in reader(source):
            if isinstance(record, Document):
                report.documents += 1
                yield record
            elif skip:
                report.skip(str(record))
            else:
                raise record
    except DataError as error:
        # What ends a file early leaves the documents before it good.
        if not skip or report.documents == 0:
            raise
        report.skip(str(error))


def _file(name: str) -> Path:
    """A file by its path, or a split of the everyday texts by a name such as `everyday:test`."""
    data_set, colon, split = name.partition(":")
    if data_set != EVERYDAY.name or not colon:
        return Path(name)
    if split not in EVERYDAY_SPLITS:
        raise ConfigError(f"{name}: there is no such split. Known: {', '.join(EVERYDAY_SPLITS)}.")
    return EVERYDAY / f"{split}.jsonl.gz"


def _source(source: str | os.PathLike[str] | IO[Any]) -> Source:
    if isinstance(source, str | os.PathLike):
        path = _file(os.fspath(source))
        if not path.is_file():
            wrong = "this is a folder" if path.is_dir() else "there is no such file"
            raise DataError(f"{path}: {wrong}. Give a file of documents.")
        return Source(path.name, path)
    name = getattr(source, "name", None)
    return Source(Path(name).name if isinstance(name, str) else "<stream>", stream=source)
