"""Where records come from: a file or stream, packed or not, line by line; and one record as a document."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from unshuffle.errors import DataError
from unshuffle.text.document import LARGEST_DOCUMENT, LONGEST_SENTENCE, TOO_LARGE, TOO_LONG, Document
from unshuffle.text.readers.signatures import check_text

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes; a longer line is no line of text but a broken or wrong file."""
PACKED = (".gz", ".xz")
_GZIP, _XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, or what is wrong with it."""

    number: int
    """From 1."""
    text: str
    """Without its end; of a broken line, what can be read of it."""
    error: DataError | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Something to read documents from."""

    name: str
    """As messages show it."""
    path: Path | None = None
    stream: IO[Any] | None = None

    @property
    def stem(self) -> str:
        """The name without endings, for documents that have no id of their own."""
        return Path(self.name.strip("<>")).name.split(".")[0] or "document"

    @property
    def suffix(self) -> str:
        """The ending that tells the format, in lower case, without that of packing."""
        path = Path(self.name.lower())
        return path.with_suffix("").suffix if path.suffix in PACKED else path.suffix

    @contextlib.contextmanager
    def bytes(self) -> Iterator[BinaryIO]:
        """The unpacked bytes; what cannot be unpacked is a DataError."""
        with contextlib.ExitStack() as stack:
            try:
                raw = cast(BinaryIO, stack.enter_context(self.path.open("rb"))) if self.path else _binary(self.stream)
                yield _unpacked(raw)
            except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
                raise DataError(
                    f"{self.name}: the packed file is truncated or damaged ({error}). Fetch it again."
                ) from None
            except UnicodeDecodeError as error:  # only a stream of text decodes while it is read
                raise DataError(
                    f"{self.name}: it is not {error.encoding}. Open it with its own encoding, or as bytes."
                ) from None
            except OSError as error:
                reason = (error.strerror or str(error)).strip().split("\n")[0]  # Arrow's go on for lines
                raise DataError(f"{self.name}: it cannot be read ({reason}). Check the file.") from None

    def lines(self) -> Iterator[Line]:
        """The lines, in constant memory; a broken one carries its error and does not end the reading."""
        with self.bytes() as content:
            number = 0
            while raw := content.readline(LONGEST_LINE + 1):
                number += 1
                where = f"{self.name} line {number}"
                if number == 1:
                    check_text(self.name, raw)
                if len(raw) > LONGEST_LINE and not raw.endswith(b"\n"):
                    marks = raw.count(b'"')
                    while raw and not raw.endswith(b"\n"):
                        raw = content.readline(LONGEST_LINE)
                        marks += raw.count(b'"')
                    limit = LONGEST_LINE // (1024 * 1024)
                    error = DataError(f"{where}: it is longer than {limit} MB. Put one document on a line.")
                    yield Line(number, '"' * (marks % 2), error)  # an odd one opens or closes a cell of a table
                    continue
                try:
                    text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as wrong:
                    error = DataError(f"{where}: byte {wrong.start + 1} is not UTF-8. Save the file as UTF-8.")
                    yield Line(number, raw.decode("utf-8", "replace").rstrip("\r\n"), error)
                    continue
                yield Line(number, text.rstrip("\r\n"))


class _Encoded(io.RawIOBase):
    """A stream of text as one of bytes."""

    def __init__(self, text: IO[str]) -> None:
        self._text = text
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = self._text.read(8192).encode("utf-8", "surrogatepass")
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def _binary(stream: IO[Any] | None) -> BinaryIO:
    inner = getattr(stream, "buffer", None)
    if stream is sys.stdin and inner is not None:
        return cast(BinaryIO, inner)  # packed input comes in here too
    if stream is not None and isinstance(stream.read(0), str):
        # Not by its buffer, which knows nothing of what was read before, nor of the encoding.
        return cast(BinaryIO, io.BufferedReader(_Encoded(stream)))
    return cast(BinaryIO, stream)


def _unpacked(raw: BinaryIO) -> BinaryIO:
    """By the first bytes and not by name, so that a stream may be packed too."""
    if not hasattr(raw, "peek") and not raw.seekable():
        raw = cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, raw)))
    if hasattr(raw, "peek"):
        head = raw.peek(6)[:6]
    else:
        start = raw.tell()
        head = raw.read(6)
        raw.seek(start)
    if head.startswith(_GZIP):
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    return cast(BinaryIO, lzma.LZMAFile(raw)) if head.startswith(_XZ) else raw


def document(where: str, sentences: object, id: object, default_id: str) -> Document:
    """A document; what is wrong is said with the place in the file."""
    if not isinstance(sentences, list | tuple):
        raise DataError(f'{where}: the sentences are not a list. Give ["...", "..."].')
    if not sentences:
        raise DataError(f"{where}: the document has no sentence. Give at least one.")
    for position, sentence in enumerate(sentences, start=1):
        if not isinstance(sentence, str):
            raise DataError(f"{where}: sentence {position} is not text but {_kind(sentence)}. Give strings only.")
        if len(sentence) > LONGEST_SENTENCE:
            raise DataError(f"{where}: sentence {position} {TOO_LONG}")
        if not sentence.strip():
            raise DataError(f"{where}: sentence {position} is empty. Remove it or give its text.")
        if not sentence.isascii() and any("\ud800" <= letter <= "\udfff" for letter in sentence):
            raise DataError(f"{where}: sentence {position} has half a character in it. Save the file as UTF-8.")
    if sum(map(len, sentences)) > LARGEST_DOCUMENT:
        raise DataError(f"{where}: {TOO_LARGE}")
    return Document.from_sentences(sentences, id=_id(where, id, default_id))


def _id(where: str, id: object, default: str) -> str:
    if id is None or id == "":
        return default
    if isinstance(id, bool) or not isinstance(id, str | int):
        raise DataError(f"{where}: 'id' is not text but {_kind(id)}. Give a string.")
    return str(id).encode("utf-8", "replace").decode("utf-8")


def _kind(value: object) -> str:
    names = {type(None): "null", dict: "an object", list: "a list", bool: "true or false", int: "a number"}
    return names.get(type(value), "a number" if isinstance(value, float) else type(value).__name__)
