"""Plain text: `lines`, a sentence a line and a blank line between documents; `text`, running text.

Running text is one document; a form feed or a line of three or more hyphens begins another. Blank lines in it are the
ends of paragraphs, over which no sentence reaches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from unshuffle.errors import DataError
from unshuffle.text.document import LARGEST_DOCUMENT, TOO_LARGE, Document
from unshuffle.text.readers.source import Line, Source, document
from unshuffle.text.split import Unit, split_text

_RULE = re.compile(r"\s*-{3,}\s*")


def read_lines(source: Source) -> Iterator[Document | DataError]:
    """The documents of a file with a sentence a line."""
    group = _Group(source)
    for line in source.lines():
        if line.error:
            group.break_with(line.error)
        elif line.text.strip():
            group.touch(line)
            if not group.full(len(line.text)):
                group.add(line, [line.text.strip()])
        else:
            yield from group.end()
    yield from group.end()


def read_text(source: Source, unit: Unit = "sentence") -> Iterator[Document | DataError]:
    """The documents of a file of running text."""
    group = _Group(source)
    paragraph: list[str] = []
    for line in source.lines():
        if line.error:
            group.break_with(line.error)
            continue
        pages = [""] * 2 if _RULE.fullmatch(line.text) else line.text.split("\f")
        for position, page in enumerate(pages):
            if position > 0 or not page.strip():
                group.add(line, split_text("\n".join(paragraph), unit))
                paragraph = []
            if position > 0:
                yield from group.end()
            if page.strip():
                group.touch(line)
                if group.full(len(page)):
                    paragraph = []
                else:
                    paragraph.append(page)
    group.add(None, split_text("\n".join(paragraph), unit))
    yield from group.end()


class _Group:
    """The sentences of the document that is being read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._documents = 0
        self._start = 0
        self._sentences: list[str] = []
        self._error: DataError | None = None
        self._size = 0

    def full(self, characters: int) -> bool:
        """Whether this many more characters would make it too long for a document; what follows of it is not kept."""
        self._size += characters
        if self._size > LARGEST_DOCUMENT:
            self.break_with(DataError(f"{self._source.name} line {self._start}: {TOO_LARGE}"))
            self._sentences = []
        return self._size > LARGEST_DOCUMENT

    def touch(self, line: Line) -> None:
        """Remember where the document begins."""
        self._start = self._start or line.number

    def add(self, line: Line | None, sentences: list[str]) -> None:
        """More sentences of the document."""
        if sentences and line:
            self.touch(line)
        self._sentences += sentences

    def break_with(self, error: DataError) -> None:
        """The document cannot be had whole."""
        self._error = self._error or error

    def end(self) -> Iterator[Document | DataError]:
        """The document, if there was one."""
        if self._error:
            yield self._error
        elif self._sentences:
            self._documents += 1
            where = f"{self._source.name} line {self._start}"
            try:
                yield document(where, self._sentences, None, f"{self._source.stem}-{self._documents}")
            except DataError as error:
                yield error
        self._start, self._sentences, self._error, self._size = 0, [], None, 0
