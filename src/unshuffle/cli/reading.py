"""Where a command's documents come from, and what is said on stderr about them."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import typer

from unshuffle.errors import DataError
from unshuffle.text.document import Document
from unshuffle.text.formats import SUFFIXES, Format, OnBroken
from unshuffle.text.language import looks_english
from unshuffle.text.readers.read import read_documents
from unshuffle.text.readers.report import ReadReport
from unshuffle.text.readers.source import Source
from unshuffle.text.split import Unit


@dataclass
class Reading:
    """The documents of one command: a file, stdin or a text on the command line."""

    file: str | None = None
    text: str | None = None
    input: Format | None = None
    unit: Unit = "sentence"
    on_error: OnBroken = "stop"
    report: ReadReport = field(default_factory=ReadReport, init=False)
    _foreign: int = field(default=0, init=False)

    def documents(self) -> Iterator[Document]:
        """The documents one at a time; that a file is missing is said at once, before a model is loaded."""
        if self.text is not None and self.file is not None:
            raise DataError("--text: there is a file as well. Give one of the two.")
        return self._looked_at(self._opened())

    def _looked_at(self, documents: Iterable[Document]) -> Iterator[Document]:
        found = 0
        for document in documents:
            found += 1
            self._look_at(document)
            yield document
        if not found:
            raise DataError(f"{self._name()}: it holds no document. Give at least one sentence.")

    def tell(self) -> None:
        """What was skipped, on stderr."""
        for message in self.report.messages:
            typer.echo(f"unshuffle: skipped: {message}", err=True)
        if self.report.skipped:
            typer.echo(
                f"unshuffle: {self._name()}: {self.report.skipped} skipped, {self.report.documents} read.", err=True
            )
        if self._foreign > 1:
            typer.echo(f"unshuffle: {self._foreign} documents do not look English.", err=True)

    def _opened(self) -> Iterable[Document]:
        # Paragraphs are cut out of running text: what a file's name does not tell is read so.
        plain: Format | None = "text" if self.unit == "paragraph" and not _tells_format(self.file) else None
        if self.text is not None:
            stream = io.BytesIO(self.text.encode("utf-8", "surrogatepass"))
            stream.name = "--text"
            return self._read(stream, self.input or "text")
        if self.file is None or self.file == "-":
            return self._read(sys.stdin.buffer, self.input or plain or "lines")
        return self._read(self.file, self.input or plain)

    def _read(self, source: str | IO[bytes], format: Format | None) -> Iterable[Document]:
        return read_documents(source, format, self.on_error, self.report, self.unit)

    def _look_at(self, document: Document) -> None:
        if not looks_english(document.sentences):
            self._foreign += 1
            if self._foreign == 1:
                typer.echo(
                    f"unshuffle: document '{document.id}': it does not look English, which is what the models know. "
                    "Do not rely on the answer.",
                    err=True,
                )

    def _name(self) -> str:
        if self.text is not None:
            return "--text"
        return "stdin" if self.file in (None, "-") else str(self.file)


def _tells_format(file: str | None) -> bool:
    return file not in (None, "-") and Source(Path(str(file)).name).suffix in SUFFIXES
