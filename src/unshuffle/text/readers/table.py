"""CSV and TSV with a header, in two shapes.

A column `sentence` makes it a row a sentence: the rows of a document stand together and share an `id`; a column
`position`, if there is one, tells their order. Otherwise it is a row a document: `id`, then the sentences: the columns
sentence1, sentence2 and so on if there are such, else a column `text`, whose running text is split, else all other
columns. CSV may quote its cells; TSV does not, so that a quotation mark in it is one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from unshuffle.errors import DataError
from unshuffle.text.document import LARGEST_DOCUMENT, TOO_LARGE, Document
from unshuffle.text.readers.source import Line, Source, document
from unshuffle.text.split import Unit, split_text

_NUMBERED = re.compile(r"sentence_?\d+")


@dataclass(frozen=True, slots=True)
class TableRow:
    """The cells of a row, or what is wrong with it."""

    where: str
    cells: list[str]
    error: DataError | None = None


def read_csv(source: Source, unit: Unit = "sentence") -> Iterator[Document | DataError]:
    """The documents of a file with commas."""
    return _read(source, ",", csv.QUOTE_MINIMAL, unit)


def read_tsv(source: Source, unit: Unit = "sentence") -> Iterator[Document | DataError]:
    """The documents of a file with tabs."""
    return _read(source, "\t", csv.QUOTE_NONE, unit)


class _Feed:
    """Lines for the csv module; unlike a generator it can go on after a line that raised."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self.number = 0

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number = line.number
        if line.error:
            raise line.error
        return line.text + "\n"


def _rows(source: Source, delimiter: str, quoting: Literal[0, 3]) -> Iterator[TableRow]:
    feed = _Feed(source.lines())
    reader = csv.reader(feed, delimiter=delimiter, quoting=quoting, strict=True)
    while True:
        where = f"{source.name} line {feed.number + 1}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield TableRow(
                where, [], DataError(f"{where}: the row cannot be read ({error}). Check its quotation marks.")
            )
        except DataError as error:
            if feed.number == 0:
                raise  # the file itself, not a line
            yield TableRow(where, [], error)
        else:
            if any(cell.strip() for cell in cells):
                yield TableRow(where, [cell.strip() for cell in cells])


def _read(source: Source, delimiter: str, quoting: Literal[0, 3], unit: Unit) -> Iterator[Document | DataError]:
    rows = _rows(source, delimiter, quoting)
    header = next(rows, None)
    if header is None:
        raise DataError(f"{source.name}: it is empty. The first line must name the columns.")
    if header.error:
        raise header.error
    names = [name.lower() for name in header.cells]
    if "id" not in names or len(set(names)) < max(len(names), 2):
        raise DataError(f"{header.where}: the header must name each column once, with 'id' among them. Add a header.")
    whole = _whole(rows, len(names))
    if "sentence" in names:
        yield from _row_a_sentence(names, whole)
    else:
        yield from _row_a_document(source, names, whole, unit)


def _whole(rows: Iterator[TableRow], width: int) -> Iterator[TableRow]:
    """Rows made as wide as the header; wider ones are faults."""
    for row in rows:
        if len(row.cells) > width:
            message = (
                f"{row.where}: the row has {len(row.cells)} cells, the header {width}. Quote or remove the extra ones."
            )
            yield TableRow(row.where, [], DataError(message))
        else:
            yield TableRow(row.where, row.cells + [""] * (width - len(row.cells)), row.error)


def _row_a_document(
    source: Source, names: list[str], rows: Iterator[TableRow], unit: Unit
) -> Iterator[Document | DataError]:
    numbered = [column for column, name in enumerate(names) if _NUMBERED.fullmatch(name)]
    columns = numbered or [column for column, name in enumerate(names) if name != "id"]
    running = not numbered and "text" in names
    for number, row in enumerate(rows, start=1):
        sentences = [row.cells[column] for column in columns] if not row.error else []
        if running and not row.error:
            sentences = split_text(row.cells[names.index("text")], unit)
        while sentences and not sentences[-1]:
            sentences.pop()  # shorter documents leave the last columns empty
        try:
            if row.error:
                raise row.error
            yield document(row.where, sentences, row.cells[names.index("id")], f"{source.stem}-{number}")
        except DataError as error:
            yield error


def _row_a_sentence(names: list[str], rows: Iterator[TableRow]) -> Iterator[Document | DataError]:
    done: set[int] = set()  # hashes, since a corpus has many ids
    group = _TableGroup()
    for row in rows:
        cells = dict(zip(names, row.cells, strict=True)) if not row.error else {}
        if not cells.get("id"):
            # Nobody can tell whose sentence this was: the document around it is not whole.
            group.break_with(row.error or DataError(f"{row.where}: the row has no id. Give that of its document."))
            continue
        if cells["id"] != group.id:
            yield from group.end()
            done.add(hash(group.id))
            group = _TableGroup(cells["id"], row.where)
            if hash(group.id) in done:
                group.break_with(DataError(f"{row.where}: document '{group.id}' ended above. Put its rows together."))
        group.add(row.where, cells["sentence"], cells.get("position"))
    yield from group.end()


class _TableGroup:
    """The rows of one document."""

    def __init__(self, id: str = "", where: str = "") -> None:
        self.id = id
        self._where = where
        self._rows: list[tuple[int, str]] = []
        self._size = 0
        self._error: DataError | None = None

    def break_with(self, error: DataError) -> None:
        """The document cannot be had whole."""
        self._error = self._error or error

    def add(self, where: str, sentence: str, position: str | None) -> None:
        """One more sentence, at its position or after those before."""
        if position is not None and not re.fullmatch(r"-?\d{1,9}", position):
            self.break_with(DataError(f"{where}: 'position' is not a whole number. Number the sentences 1, 2, 3."))
            return
        self._size += len(sentence)
        if self._size > LARGEST_DOCUMENT:
            self.break_with(DataError(f"{self._where}: {TOO_LARGE}"))
            self._rows = []
            return
        self._rows.append((len(self._rows) if position is None else int(position), sentence))

    def end(self) -> Iterator[Document | DataError]:
        """The document, if there was one."""
        if len({position for position, _ in self._rows}) < len(self._rows):
            message = f"{self._where}: document '{self.id}' has a position twice. Number its sentences 1, 2, 3."
            self.break_with(DataError(message))
        if self._error:
            yield self._error
        elif self._rows:
            try:
                yield document(self._where, [sentence for _, sentence in sorted(self._rows)], self.id, self.id)
            except DataError as error:
                yield error
