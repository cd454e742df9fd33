"""CSV and TSV as rows of cells.

The csv module is not used: its limit for a cell holds for the whole process, and after a fault in a cell of several
lines it takes the rest of the cell for rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from unshuffle.errors import DataError
from unshuffle.text.document import LARGEST_DOCUMENT
from unshuffle.text.readers.source import Line, Source

_QUOTED = re.compile(r'[^"]*+(?:""[^"]*+)*+')
"""Text in quotation marks up to the mark that closes it; a mark in it is doubled."""
_LOST = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class TableRow:
    """The cells of a row; where something is wrong with it, those of them that could be read."""

    where: str
    cells: list[str]
    error: DataError | None = None


def read_rows(source: Source, delimiter: str, *, quoted: bool) -> Iterator[TableRow]:
    """The rows that are not blank; one of several lines is one row even where it is broken."""
    row: _Row | None = None
    for line in source.lines():
        row = row or _Row(f"{source.name} line {line.number}", delimiter, quoted=quoted)
        row.add(line)
        if not row.is_open:
            yield from row.end()
            row = None
    if row is not None:
        row.fail("a quotation mark is never closed")
        yield from row.end()


class _Row:
    """The row that is being read."""

    def __init__(self, where: str, delimiter: str, *, quoted: bool) -> None:
        self._where = where
        self._delimiter = delimiter
        self._quoted = quoted
        self._cells: list[str] = []
        self._parts: list[str] = []
        self._size = 0
        self._marks = 0
        self._error: DataError | None = None
        self._fault = False
        self.is_open = False
        """Whether a quotation mark waits for its other, so that the next line belongs to the row too."""

    def fail(self, reason: str) -> None:
        """The row cannot be read; what follows of it is passed over."""
        self._fault = True
        self._error = self._error or DataError(
            f"{self._where}: the row cannot be read ({reason}). Check its quotation marks."
        )

    def add(self, line: Line) -> None:
        """One more line."""
        self._error = self._error or line.error
        place: int | None = 0
        while place is not None:
            if self.is_open or (self._quoted and line.text.startswith('"', place)):
                place = self._in_quotes(line.text, place if self.is_open else place + 1)
            else:
                place = self._bare(line.text, place)
        self._marks += line.text.count('"')
        if self._fault and self._marks % 2 == 0:
            self.is_open = False  # as many marks open as close: the text after one was the fault

    def _bare(self, text: str, start: int) -> int | None:
        """Reads a cell without quotation marks around it; gives where the next begins."""
        end = text.find(self._delimiter, start)
        cell = text[start : end if end >= 0 else len(text)]
        if "\r" in cell:
            self.fail("a line ends within it")
        self._keep(cell)
        self._close()
        return end + 1 if end >= 0 else None

    def _in_quotes(self, text: str, start: int) -> int | None:
        """Reads on in a cell with quotation marks around it; gives where the next begins, unless this goes on."""
        self.is_open = True
        while True:
            found = _QUOTED.match(text, start)
            end = found.end() if found else start
            self._keep(text[start:end].replace('""', '"'))
            if end == len(text):
                self._keep("\n")
                return None
            follows = text[end + 1 : end + 2]
            if follows in ("", self._delimiter):
                self.is_open = False
                self._close()
                return end + 2 if follows else None
            self.fail(f"after a closing quotation mark stands '{follows}' and not '{self._delimiter}'")
            start = end + 1

    def _keep(self, part: str) -> None:
        self._size += len(part)
        if self._size > LARGEST_DOCUMENT:
            self.fail(f"it has more than {LARGEST_DOCUMENT:,} characters")
            self._parts = []
        elif not self._fault:
            self._parts.append(part)

    def _close(self) -> None:
        if not self._fault:
            self._cells.append("".join(self._parts).strip())
        self._parts = []

    def end(self) -> Iterator[TableRow]:
        """The row, unless it is blank."""
        if self._error:
            yield TableRow(self._where, ["" if _LOST in cell else cell for cell in self._cells], self._error)
        elif any(self._cells):
            yield TableRow(self._where, self._cells)
