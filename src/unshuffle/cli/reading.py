"""Where a command's documents and model come from, and what is said on stderr about them."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer

from unshuffle.cli.terminal import is_watched
from unshuffle.errors import DataError
from unshuffle.text.document import Document
from unshuffle.text.readers.formats import ENOUGH, SUFFIXES, Format, OnBroken, recognised
from unshuffle.text.readers.read import ReadReport, read_documents
from unshuffle.text.readers.source import Source
from unshuffle.text.split import Unit, looks_english

if TYPE_CHECKING:
    from unshuffle.system.orderer import Orderer

DESCRIBED: dict[Format, str] = {
    "lines": "with one sentence per line",
    "text": "as running text",
    "jsonl": "as JSON lines",
    "json": "as JSON",
}


@dataclass
class CommandInput:
    """The documents of one command: a file, stdin or a text on the command line."""

    file: str | None = None
    text: str | None = None
    input: Format | None = None
    unit: Unit = "sentence"
    on_error: OnBroken = "stop"
    report: ReadReport = field(default_factory=ReadReport, init=False)
    _foreign: int = field(default=0, init=False)
    _sentences: int = field(default=0, init=False)
    _format: Format | None = field(default=None, init=False)
    _file: IO[bytes] | None = field(default=None, init=False)

    def documents(self) -> Iterator[Document]:
        """The documents one at a time; that a file is missing is said at once, before a model is loaded."""
        if self.text is not None and self.file is not None:
            raise DataError("--text: there is a file as well. Give one of the two.")
        return self._looked_at(self._opened())

    def _looked_at(self, documents: Iterable[Document]) -> Iterator[Document]:
        found = 0
        for document in documents:
            found += 1
            self._sentences += len(document.sentences)
            self._look_at(document)
            yield document
        if not found:
            raise DataError(f"{self._name()}: there are no sentences in it. Give at least one.")

    def expected(self) -> int | None:
        """How many documents the file holds, by the share of it that is read; None where that is not known."""
        if self._file is None or self._file.closed or not self._file.tell():
            return None
        return round(self.report.documents * os.fstat(self._file.fileno()).st_size / self._file.tell())

    def tell(self) -> None:
        """What was skipped or looks wrong, on stderr."""
        if self._sentences == 1 and self.input is None:
            self._hint()
        for message in self.report.messages:
            typer.echo(f"unshuffle: skipped: {message}", err=True)
        if self.report.skipped:
            typer.echo(
                f"unshuffle: {self._name()}: {self.report.skipped} skipped, {self.report.documents} read.", err=True
            )
        if self._foreign > 1:
            typer.echo(f"unshuffle: {self._foreign} documents do not look like English.", err=True)

    def _opened(self) -> Iterable[Document]:
        if self.text is not None:
            stream = io.BytesIO(self.text.encode("utf-8", "surrogatepass"))
            stream.name = "--text"
            return self._read(stream, self._checked(self.input))
        if self.file is None or self.file == "-":
            if sys.stdin is None:  # closed before the command began
                raise DataError("stdin: it is closed. Give a file, or text with --text.")
            if sys.stdin.isatty() and is_watched():
                typer.echo("Type or paste the sentences, then press Ctrl-D on a line of its own.", err=True)
            return self._read(sys.stdin.buffer, self._checked(self.input))
        path = Path(self.file)
        named = self._checked(self.input or SUFFIXES.get(Source(path.name).suffix))
        if named == "parquet" or not path.exists() or path.is_dir():
            return read_documents(self.file, named, self.on_error, self.report, self.unit)
        try:
            opened = path.open("rb")  # read as long as documents are asked for
        except OSError as error:
            raise DataError(f"{self.file}: it cannot be read ({error.strerror or error}). Check the file.") from None
        if path.is_file():  # a pipe does not know how much is still to come
            self._file = opened
        return self._read(opened, named)

    def _read(self, stream: IO[bytes], format: Format | None) -> Iterable[Document]:
        if format is None:
            head, stream = looked_into(stream)
            format = self._guess(head)
        self._format = format
        return read_documents(stream, format, self.on_error, self.report, self.unit)

    def _checked(self, format: Format | None) -> Format | None:
        """Refuses formats of sentences where paragraphs are to be put in order."""
        if self.unit == "paragraph" and format in ("lines", "lower"):
            raise DataError(f"--unit paragraph: the format '{format}' has sentences only. Use --input text.")
        return format

    def _guess(self, head: bytes) -> Format:
        """By content, where neither --input nor the name tells the format."""
        format: Format = recognised(head)
        if self.unit == "paragraph" and format == "lines":
            format = "text"  # paragraphs are cut out of running text
        if is_watched():
            typer.echo(f"{self._name()} is read {DESCRIBED[format]}. If that is wrong, use --input.", err=True)
        return format

    def _hint(self) -> None:
        """One sentence in and one out is seldom what was meant."""
        if self.unit == "paragraph":
            advice = "Blank lines separate paragraphs. To order sentences, leave --unit out."
        elif self._format == "lines":
            advice = "If this is running text, use --input text."
        elif self._format == "text":
            advice = "If each line is a sentence, use --input lines."
        else:
            return
        typer.echo(f"unshuffle: only one {self.unit} found. {advice}", err=True)

    def _look_at(self, document: Document) -> None:
        if not looks_english(document.sentences):
            self._foreign += 1
            if self._foreign == 1:
                typer.echo(
                    f"unshuffle: document '{document.id}': it does not look like English, the only language that the "
                    "models know. Do not rely on the answer.",
                    err=True,
                )

    def _name(self) -> str:
        if self.text is not None:
            return "--text"
        return "stdin" if self.file in (None, "-") else str(self.file)


def looked_into(stream: IO[bytes]) -> tuple[bytes, IO[bytes]]:
    """The first bytes of a stream, and a stream of all of it."""
    head = stream.read(ENOUGH)
    return head, io.BufferedReader(_Rejoined(head, stream))


class _Rejoined(io.RawIOBase):
    """Bytes that were read already, followed by the rest of their stream."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = io.BytesIO(head)
        self._rest = rest
        self.name = getattr(rest, "name", None)  # messages show it

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # At most as much as is there: whoever types line by line is answered so.
        read = getattr(self._rest, "read1", self._rest.read)
        part = self._head.read(len(buffer)) or read(len(buffer))
        buffer[: len(part)] = part
        return len(part)


def load_orderer(name: str, **options: Any) -> Orderer:
    """A model with as many threads as suit it: the library leaves that choice to programs, such as this one."""
    from unshuffle.cli.terminal import spinner

    with spinner("Loading the model"):
        from unshuffle.machine import use_threads, wanted_threads
        from unshuffle.system.orderer import Orderer

        orderer = Orderer.from_pretrained(name, threads=wanted_threads(large=True), **options)
        use_threads(large=orderer.model.large)
        return orderer
