"""One function per file format."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import Literal

from unshuffle.exercises.sheet import Booklet

Format = Literal["text", "html", "pdf", "docx", "moodle", "gift", "json"]

SUFFIXES: dict[str, Format] = {
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".xml": "moodle",
    ".gift": "gift",
    ".json": "json",
    ".jsonl": "json",
}
BINARY: frozenset[Format] = frozenset({"pdf", "docx"})
"""Formats that no terminal can show."""
QUESTIONS: frozenset[Format] = frozenset({"moodle", "gift", "json"})
"""Formats in which question and answer are one."""


def written(booklet: Booklet, format: Format) -> bytes:
    """The booklet as the bytes of a file."""
    if format == "json":
        return "".join(json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in booklet.exercises).encode()
    # Imported here: PDF and Word documents need packages that may not be installed.
    write: Callable[[Booklet], bytes] = import_module(f"unshuffle.exercises.formats.{format}").write
    return write(booklet)
