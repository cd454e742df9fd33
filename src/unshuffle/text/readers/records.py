"""JSON: `jsonl`, a document a line; `json`, a whole file that is one document or a list of them.

A document is a list of strings, or an object with `sentences` (such a list) or `text` (running text, which is split);
`id` is read where there is one, other keys are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from unshuffle.errors import DataError
from unshuffle.text.document import Document
from unshuffle.text.readers.signatures import check_text
from unshuffle.text.readers.source import Source, document
from unshuffle.text.split import Unit, split_text

NEEDED = '{"sentences": ["...", "..."]} or {"text": "..."}'
LARGEST_FILE = 32 * 1024 * 1024
"""Bytes of a JSON file, which is read whole; JSON lines may be of any size."""


def read_jsonl(source: Source, unit: Unit = "sentence") -> Iterator[Document | DataError]:
    """The documents of a file with one on each line; blank lines are passed over."""
    for line in source.lines():
        if line.error:
            yield line.error
        elif line.text.strip():
            where = f"{source.name} line {line.number}"
            try:
                record = _parsed(line.text, where, f"Each line needs {NEEDED}.")
                yield _document(record, where, f"{source.stem}-{line.number}", unit)
            except DataError as error:
                yield error


def read_json(source: Source, unit: Unit = "sentence") -> Iterator[Document | DataError]:
    """The documents of one JSON value; JSON lines under the wrong name are read all the same."""
    with source.bytes() as content:
        raw = content.read(LARGEST_FILE + 1)
    if len(raw) > LARGEST_FILE:
        limit = LARGEST_FILE // (1024 * 1024)
        raise DataError(f"{source.name}: it is longer than {limit} MB. Write it as JSON lines, one document per line.")
    check_text(source.name, raw[:16])
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{source.name}: byte {error.start + 1} is not UTF-8. Save the file as UTF-8.") from None
    if not text.strip():
        return
    for where, id, record in _records(source, text):
        try:
            if isinstance(record, DataError):
                raise record
            yield _document(record, where, id, unit)
        except DataError as error:
            yield error


def _records(source: Source, text: str) -> Iterator[tuple[str, str, Any]]:
    """Each document with its place and an id for want of its own; one that cannot be parsed is its error."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    try:
        whole = _parsed(text, source.name, f"Give a list of documents such as {NEEDED}, or JSON lines.")
    except DataError:
        first = lines[0][1].strip()
        if len(lines) < 2 or not first.endswith(("}", "]")):
            raise
        for number, line in lines:
            where = f"{source.name} line {number}"
            try:
                record = _parsed(line, where, f"Each line needs {NEEDED}.")
            except DataError as error:
                record = error
            yield where, f"{source.stem}-{number}", record
        return
    several = isinstance(whole, list) and any(isinstance(one, dict | list) for one in whole)
    for number, record in enumerate(whole if several else [whole], start=1):
        yield f"{source.name} document {number}" if several else source.name, f"{source.stem}-{number}", record


def _parsed(text: str, where: str, advice: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise DataError(f"{where}: the JSON is nested too deep. Give a flat list of strings.") from None
    except ValueError as error:
        reason = str(error).split(" (char")[0].split(": line")[0]
        raise DataError(f"{where}: it is not JSON ({reason}). {advice}") from None


def _document(record: Any, where: str, default_id: str, unit: Unit) -> Document:
    if isinstance(record, list):
        return document(where, record, None, default_id)
    if isinstance(record, dict) and "sentences" in record:
        return document(where, record["sentences"], record.get("id"), default_id)
    if isinstance(record, dict) and isinstance(record.get("text"), str):
        return document(where, split_text(record["text"], unit), record.get("id"), default_id)
    raise DataError(f"{where}: 'sentences' is missing. Each document needs {NEEDED}.")
