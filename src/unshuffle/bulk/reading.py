"""The rows of a part, a few at a time: sentences to be ordered, and everything else that the rows hold."""

from __future__ import annotations

import gzip
import itertools
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from unshuffle.bulk.parts import TABLES, Part
from unshuffle.errors import DataError
from unshuffle.integrations.columns import ANSWER, renamed
from unshuffle.text.readers.source import PACKED, Source, document

OWN = ("source", "row", "id")
"""Columns that say where a row came from."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One record of a file."""

    number: int
    """In its file, from 1."""
    id: str
    sentences: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """Some records that follow each other."""

    rows: tuple[DocumentRow, ...]
    others: Any
    """Arrow table of the other columns, row for row."""


def read_part(part: Part, most: int) -> Iterator[Rows]:
    """The part's rows, a limited number at a time; raises DataError where the file itself is broken."""
    table = Path(part.source).with_suffix("") if Path(part.source).suffix.lower() in PACKED else Path(part.source)
    return _tables(part, most) if table.suffix.lower() in TABLES else _lines(part, most)


def _lines(part: Part, most: int) -> Iterator[Rows]:
    file = Path(part.source)
    try:
        with file.open("rb") as content:
            content.seek(part.offset)
            source = Source(file.name, stream=content)
            lines = itertools.islice(source.lines(), part.rows)
            while some := list(itertools.islice(lines, most)):
                rows, extras = [], []
                for line in some:
                    if not line.error and not line.text.strip():
                        continue  # a blank line is no record
                    number = part.first + line.number
                    row, extra = _record(f"{file.name} line {number}", f"{source.stem}-{number}", number, line.text)
                    if line.error:  # worded again, because the source counts from the part's first line
                        row = DocumentRow(number, row.id, error=f"{file.name} line {number}: {_reason(line.error)}")
                    rows.append(row)
                    extras.append(extra)
                yield Rows(tuple(rows), pa.table({"extra": pa.array(extras, pa.string())}))
    except OSError as error:
        raise DataError(f"{file.name}: it cannot be read ({error.strerror or error}). Check the file.") from None


def _reason(error: DataError) -> str:
    return str(error).partition(": ")[2]


def _record(where: str, default_id: str, number: int, text: str) -> tuple[DocumentRow, str | None]:
    id: object = None
    try:
        record = json.loads(text)
        if isinstance(record, list):
            record = {"sentences": record}
        id = record.pop("id", None) if isinstance(record, dict) else None
        if not isinstance(record, dict) or "sentences" not in record:
            raise DataError(f'{where}: \'sentences\' is missing. Each line needs {{"sentences": ["...", "..."]}}.')
        found = document(where, record.pop("sentences"), id, default_id)
        extra = json.dumps(record) if record else None
        return DocumentRow(number, found.id, found.sentences), extra
    except DataError as error:
        return DocumentRow(number, _shown(id, default_id), error=str(error)), None
    except (ValueError, RecursionError):
        return DocumentRow(
            number, default_id, error=f"{where}: it is not JSON, or nested too deep. Mend the line."
        ), None


def _shown(id: object, default: str) -> str:
    """The id of a row that is otherwise bad, if it has one."""
    if isinstance(id, bool) or not isinstance(id, str | int) or id == "":
        return default
    return str(id).encode("utf-8", "replace").decode()


def _tables(part: Part, most: int) -> Iterator[Rows]:
    file = Path(part.source)
    try:
        with Source(file.name, file).bytes() as content:
            # Parquet has its table of contents at the end, so a packed one is unpacked whole.
            source: Any = (
                pa.BufferReader(content.read()) if isinstance(content, gzip.GzipFile | lzma.LZMAFile) else file
            )
            opened = parquet.ParquetFile(source)
            _check(file.name, opened.schema_arrow)
            groups = None if part.rows is None or not opened.num_row_groups else [part.offset]
            yield from _batches(opened, part, groups, most)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"{file.name}: it is not a sound Parquet file ({reason}). Write it again.") from None


def _check(name: str, schema: Any) -> None:
    if schema.names.count("sentences") > 1:
        raise DataError(f"{name}: it has more than one column 'sentences'. Rename all but one.")
    if "sentences" not in schema.names:
        there = ", ".join(schema.names[:8])
        raise DataError(f"{name}: column 'sentences' is missing (there are: {there}). Rename the column.")


def _batches(opened: Any, part: Part, groups: list[int] | None, most: int) -> Iterator[Rows]:
    passed, wanted = 0, part.rows
    for batch in opened.iter_batches(batch_size=most, row_groups=groups):
        start = max(part.skip - passed, 0)
        passed += batch.num_rows
        end = batch.num_rows if wanted is None else min(batch.num_rows, part.skip + wanted - (passed - batch.num_rows))
        if start < end:
            first = part.first + passed - batch.num_rows - part.skip + start
            yield _table_rows(Path(part.source), pa.Table.from_batches([batch]).slice(start, end - start), first)
        if wanted is not None and passed >= part.skip + wanted:
            return


def _table_rows(file: Path, table: Any, first: int) -> Rows:
    stem = Source(file.name).stem
    texts = table.column("sentences")
    ids = table.column("id") if table.column_names.count("id") == 1 else None
    rows = []
    for position in range(table.num_rows):
        number = first + position + 1
        where, default = f"{file.name} row {number}", f"{stem}-{number}"
        id: object = None
        try:
            id = ids[position].as_py() if ids is not None else None
            found = document(where, texts[position].as_py(), id, default)
            rows.append(DocumentRow(number, found.id, found.sentences))
        except DataError as error:
            rows.append(DocumentRow(number, _shown(id, default), error=str(error)))
        except UnicodeDecodeError:
            rows.append(DocumentRow(number, default, error=f"{where}: its text is not UTF-8. Write the file again."))
    used = ("sentences",) if ids is None else ("sentences", "id")  # of two ids neither is meant, and both are kept
    others = [position for position, name in enumerate(table.column_names) if name not in used]
    kept = table.select(others)
    return Rows(tuple(rows), kept.rename_columns(renamed(kept.column_names, (*OWN, *ANSWER.names))))
