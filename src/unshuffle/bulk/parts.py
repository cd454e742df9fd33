"""Files cut into parts, the unit of work: small enough to be done again, large enough to be worth a process."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import lzma
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from unshuffle.errors import DataError, MissingExtra
from unshuffle.text.readers.source import PACKED, Source

LONGEST_NAME = 150
"""Bytes of a file's name that go into the names of its parts: with what is added no file system's limit is met."""
LINES, TABLES = (".jsonl", ".ndjson"), (".parquet", ".pq")
BLOCK = 1 << 20
Start = tuple[int, int | None, int, int]
WHOLE: Start = (0, None, 0, 0)


@dataclass(frozen=True, slots=True)
class Part:
    """A range of rows of one file."""

    source: str
    """The file, by its whole path: a worker may stand elsewhere."""
    name: str
    """Of the part's own files, the same at every run."""
    first: int
    """Number of its first row in the file, from 0; for JSON lines, of its first line."""
    rows: int | None
    """How many; None for all that come."""
    offset: int = 0
    """Where it begins: a byte for JSON lines, a row group for Parquet."""
    skip: int = 0
    """Rows of the row group that belong to earlier parts."""
    size: int = 0
    changed: int = 0
    """Size and time of the whole file, by which a changed one is noticed."""


def find_files(paths: Iterable[str | os.PathLike[str]], apart: Path | None = None) -> list[Path]:
    """The files themselves, and those of known endings in folders, each once and in a fixed order.

    `apart` is a folder whose files are left out, wherever they are named.
    """
    found: dict[str, Path] = {}
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.is_file() and _ending(file) in LINES + TABLES)
            if not inside:
                raise DataError(f"{path}: there is no JSONL or Parquet file in this folder. Give another.")
        elif path.is_file():
            inside = [path]
        else:
            raise DataError(f"{path}: there is no such file or folder. Give JSONL or Parquet files.")
        for file in inside:
            if _ending(file) not in LINES + TABLES:
                raise DataError(f"{file}: bulk ordering reads JSONL and Parquet. Turn it into one of them first.")
            found.setdefault(os.path.realpath(file), file)
    if apart is None:
        return list(found.values())
    kept = [file for real, file in found.items() if not Path(real).is_relative_to(os.path.realpath(apart))]
    if found and not kept:
        raise DataError(f"{apart}: all files that are given lie in the folder of the answers. Give another --out.")
    return kept


def stem_of(file: Path) -> str:
    """What the names of a file's parts begin with; the path's hash keeps files of one name in two folders apart."""
    mark = hashlib.blake2b(os.path.abspath(file).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    name = file.name.split(".")[0].encode("utf-8", "surrogateescape")[:LONGEST_NAME].decode("utf-8", "ignore")
    return f"{name or 'file'}-{mark}"


def cut(files: Iterable[Path], rows: int) -> Iterator[Part]:
    """Parts of at most `rows` rows; a file that cannot be read is one part, which will report what is wrong."""
    for file in files:
        status, starts = None, [WHOLE]
        with contextlib.suppress(OSError, DataError):
            status = file.stat()
            starts = list(_table_starts(file, rows) if _ending(file) in TABLES else _line_starts(file, rows))
        for first, count, offset, skip in starts:
            yield Part(
                source=os.path.abspath(file),
                name=f"{stem_of(file)}-{first:09d}",
                first=first,
                rows=count,
                offset=offset,
                skip=skip,
                size=status.st_size if status else 0,
                changed=status.st_mtime_ns if status else 0,
            )


def _line_starts(file: Path, rows: int) -> Iterator[Start]:
    if _is_packed(file):  # there is no way into the middle of a packed file
        yield WHOLE
        return
    lines = start = line_of_start = position = 0
    with file.open("rb") as content:
        while block := content.read(BLOCK):
            at = 0
            while (end := block.find(b"\n", at) + 1) > 0:
                at, lines = end, lines + 1
                if lines % rows == 0:
                    yield line_of_start, rows, start, 0
                    start, line_of_start = position + end, lines
            position += len(block)
    if position > start or not position:
        yield line_of_start, None, start, 0


def _table_starts(file: Path, rows: int) -> Iterator[Start]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet", "parquet") from None
    if _is_packed(file):
        yield WHOLE
        return
    try:
        described = parquet.ParquetFile(file).metadata
        counts = [described.row_group(number).num_rows for number in range(described.num_row_groups)]
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(str(error).splitlines()[0]) from None
    first = 0
    for group, count in enumerate(counts):
        for skip in range(0, count, rows):
            yield first + skip, min(rows, count - skip), group, skip
        first += count
    if not first:
        yield 0, 0, 0, 0


def _is_packed(file: Path) -> bool:
    """By the first bytes, as it will be read, and not by its name."""
    with Source(file.name, file).bytes() as content:
        return isinstance(content, gzip.GzipFile | lzma.LZMAFile)


def _ending(file: Path) -> str:
    return (file.with_suffix("") if file.suffix.lower() in PACKED else file).suffix.lower()
