"""CSV and TSV with a header, in two shapes.

A column `sentence` makes it a row a sentence: the rows of a document stand together and share an `id`; a column
`position`, if there is one, tells their order. Otherwise it is a row a document, with its `id` if there is one, and the
sentences: the columns sentence1, sentence2 and so on if there are such, else a column `text`, whose running text is
split, else, where there is an `id`, all other columns. CSV may quote its cells; TSV does not, so that a quotation mark
in it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from unshuffle.errors import DataError
from unshuffle.text.document import LARGEST_DOCUMENT, TOO_LARGE, Document
from unshuffle.text.readers.cells import TableRow, read_rows
from unshuffle.text.readers.source import Source, document
from unshuffle.text.split import Unit, split_text

_NUMBERED = re.compile(r"sentence_?\d+")


def read_csv(source: Source, unit: Unit = "sentence") -> Iterator[Document | DataError]:
    """The documents of a file with commas."""
    return _read(source, read_rows(source, ",", quoted=True), unit)


def read_tsv(source: Source, unit: Unit = "sentence") -> Iterator[Document | DataError]:
    """The documents of a file with tabs."""
    return _read(source, read_rows(source, "\t", quoted=False), unit)


def _read(source: Source, rows: Iterator[TableRow], unit: Unit) -> Iterator[Document | DataError]:
    header = next(rows, None)
    if header is None:
        raise DataError(f"{source.name}: it is empty. The first line must name the columns.")
    if header.error:
        raise header.error
    names = [name.lower() for name in header.cells]
    if wrong := _wrong_with(names):
        raise DataError(f"{header.where}: {wrong}")
    whole = _whole(rows, len(names))
    if "sentence" in names:
        yield from _row_a_sentence(names, whole)
    else:
        yield from _row_a_document(source, names, whole, unit)


def _wrong_with(names: list[str]) -> str | None:
    """What a header lacks; without a name that is known it is perhaps the first document."""
    if len(names) == 1 and (separator := next((mark for mark in ";\t,|" if mark in names[0]), None)):
        named = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "bars"}[separator]
        return f"its columns are divided by {named}. Use commas in CSV and tabs in TSV."
    if (twice := next((name for name in names if names.count(name) > 1), None)) is not None:
        return f"the header names column '{twice}' twice. Rename one of them."
    if "sentence" in names and "id" not in names:
        return "column 'id' is missing, which tells the sentences of one document. Add it."
    if "id" not in names and "text" not in names and not any(map(_NUMBERED.fullmatch, names)):
        return "the header names none of 'id', 'text', 'sentence' and 'sentence1'. Add a header, or rename a column."
    return "the header names no column but 'id'. Add one of sentences." if names == ["id"] else None


def _whole(rows: Iterator[TableRow], width: int) -> Iterator[TableRow]:
    """Rows made at least as wide as the header; wider ones are faults."""
    for row in rows:
        error = row.error
        if len(row.cells) > width and not error:
            error = DataError(
                f"{row.where}: the row has {len(row.cells)} cells, the header {width}. Quote or remove the extra ones."
            )
        yield TableRow(row.where, row.cells + [""] * (width - len(row.cells)), error)


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
            id = row.cells[names.index("id")] if "id" in names else None
            yield document(row.where, sentences, id, f"{source.stem}-{number}")
        except DataError as error:
            yield error


def _row_a_sentence(names: list[str], rows: Iterator[TableRow]) -> Iterator[Document | DataError]:
    done: set[int] = set()  # hashes, since a corpus has many ids
    group = _TableGroup()
    stray: DataError | None = None
    for row in rows:
        cells = dict(zip(names, row.cells, strict=False))
        shifted = len(row.cells) > len(names) and cells["id"] != group.id  # its id is perhaps another cell
        if not cells["id"] or shifted:
            # Nobody can tell whose sentence this was: neither the document before nor the one after it is surely whole.
            stray = stray or row.error or DataError(f"{row.where}: the row has no id. Give that of its document.")
            group.break_with(stray)
            continue
        if cells["id"] != group.id:
            if group.id:
                yield from group.end()
            done.add(hash(group.id))
            group = _TableGroup(cells["id"], row.where)
            if stray:
                group.break_with(stray)
            if hash(group.id) in done:
                group.break_with(DataError(f"{row.where}: document '{group.id}' ended above. Put its rows together."))
        stray = None
        if row.error:
            group.break_with(row.error)
        else:
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
