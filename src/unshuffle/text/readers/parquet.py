"""Parquet: a row a document, columns `sentences` (a list of strings) and, if there is one, `id`."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import shutil
import tempfile
from collections.abc import Iterator
from typing import IO, Any, BinaryIO

from unshuffle.errors import DataError, MissingExtra
from unshuffle.text.document import Document
from unshuffle.text.readers.source import Source, document

BATCH = 256
"""Rows held at once."""


def read_parquet(source: Source) -> Iterator[Document | DataError]:
    """The documents of a file, a batch of rows at a time; other columns are not even read."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet", "parquet") from None
    with source.bytes() as content, _seekable(content) as seekable:
        try:
            file = parquet.ParquetFile(seekable)
            columns = _columns(source.name, file.schema_arrow)
            row = 0
            for batch in file.iter_batches(batch_size=BATCH, columns=columns):
                for number in range(batch.num_rows):
                    row += 1
                    yield _document(batch, number, f"{source.name} row {row}", f"{source.stem}-{row}")
        except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise DataError(f"{source.name}: it is not a sound Parquet file ({reason}). Write it again.") from None


def _columns(name: str, schema: Any) -> list[str]:
    from pyarrow import types

    if "sentences" not in schema.names:
        found = ", ".join(schema.names[:8])
        raise DataError(f"{name}: column 'sentences' is missing (there are: {found}). Rename the column.")
    columns = [column for column in ("id", "sentences") if column in schema.names]
    if twice := next((column for column in columns if schema.names.count(column) > 1), None):
        raise DataError(f"{name}: there are two columns '{twice}'. Rename one of them.")
    kind = schema.field("sentences").type
    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    if not lists or not (types.is_string(kind.value_type) or types.is_large_string(kind.value_type)):
        raise DataError(f"{name}: column 'sentences' is {kind}. It must be a list of strings.")
    return columns


def _document(batch: Any, number: int, where: str, default_id: str) -> Document | DataError:
    try:
        id = batch.column("id")[number].as_py() if "id" in batch.schema.names else None
        return document(where, batch.column("sentences")[number].as_py(), id, default_id)
    except UnicodeDecodeError:
        return DataError(f"{where}: its text is not UTF-8. Write the file again.")
    except DataError as error:
        return error


@contextlib.contextmanager
def _seekable(content: BinaryIO) -> Iterator[IO[bytes]]:
    """Parquet has its table of contents at the end; what is packed or a pipe goes to a file first."""
    if not isinstance(content, gzip.GzipFile | lzma.LZMAFile) and content.seekable():
        yield content
        return
    with tempfile.TemporaryFile() as spool:
        shutil.copyfileobj(content, spool)
        spool.seek(0)
        yield spool
