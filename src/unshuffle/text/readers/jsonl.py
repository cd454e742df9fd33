"""JSON lines: one document a line, an object with `sentences` (and `id`) or a bare list of strings."""

from __future__ import annotations

import json
from collections.abc import Iterator

from unshuffle.errors import DataError
from unshuffle.text.document import Document
from unshuffle.text.readers.source import Source, document


def read_jsonl(source: Source) -> Iterator[Document | DataError]:
    """The documents of a file; blank lines and keys of other names are passed over."""
    for line in source.lines():
        if line.error:
            yield line.error
        elif line.text.strip():
            try:
                yield _document(line.text, f"{source.name} line {line.number}", f"{source.stem}-{line.number}")
            except DataError as error:
                yield error


def _document(text: str, where: str, default_id: str) -> Document:
    try:
        record = json.loads(text)
    except RecursionError:
        raise DataError(f"{where}: the JSON is nested too deep. Give a flat list of strings.") from None
    except ValueError as error:
        reason = str(error).split(" (char")[0].split(": line")[0]
        raise DataError(
            f'{where}: it is not JSON ({reason}). Each line needs {{"sentences": ["...", "..."]}}.'
        ) from None
    if isinstance(record, list):
        return document(where, record, None, default_id)
    if not isinstance(record, dict) or "sentences" not in record:
        raise DataError(f'{where}: \'sentences\' is missing. Each line needs {{"sentences": ["...", "..."]}}.')
    return document(where, record["sentences"], record.get("id"), default_id)
