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
from unshuffle.text.everyday import split_file
from unshuffle.text.readers.formats import SUFFIXES, Format, OnBroken
from unshuffle.text.readers.jsonl import read_jsonl
from unshuffle.text.readers.lower import read_lower
from unshuffle.text.readers.parquet import read_parquet
from unshuffle.text.readers.plain import read_lines, read_text
from unshuffle.text.readers.source import Source
from unshuffle.text.readers.table import read_csv, read_tsv
from unshuffle.text.split import Unit

SHOWN = 5
"""How many messages are kept."""
Reader = Callable[[Source], Iterator[Document | DataError]]
FORMATS: dict[Format, Reader] = {
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "csv": read_csv,
    "tsv": read_tsv,
    "lines": read_lines,
    "text": read_text,
    "lower": read_lower,
}
"""The formats by name. A reader gives documents and, for broken records, errors; it raises only what ends it."""


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
    Running text is cut into sentences or paragraphs by `unit`; the other formats are cut already.
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
        raise ConfigError(f"on_error is '{on_error}'. Say 'stop' or 'skip'.")
    reader = partial(read_text, unit=unit) if format == "text" else FORMATS[format]
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


def _source(source: str | os.PathLike[str] | IO[Any]) -> Source:
    if isinstance(source, str | os.PathLike):
        path = split_file(str(source)) or Path(source)
        if not path.is_file():
            wrong = "this is a folder" if path.is_dir() else "there is no such file"
            raise DataError(f"{path}: {wrong}. Give a file of documents.")
        return Source(path.name, path)
    name = getattr(source, "name", None)
    return Source(Path(name).name if isinstance(name, str) else "<stream>", stream=source)
