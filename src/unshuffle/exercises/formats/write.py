"""One function per file format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
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
PACKAGES: dict[Format, str] = {"pdf": "fpdf", "docx": "docx"}
"""What formats need that only the extra `exercises` brings."""
BINARY: frozenset[Format] = frozenset(PACKAGES)
"""Formats that no terminal can show."""
QUESTIONS: frozenset[Format] = frozenset({"moodle", "gift", "json"})
"""Formats in which question and answer are one."""


def writable(formats: Iterable[Format]) -> list[Format]:
    """Those of some formats for which everything is installed."""
    return [format for format in formats if format not in PACKAGES or find_spec(PACKAGES[format])]


def written(booklet: Booklet, format: Format) -> bytes:
    """The booklet as the bytes of a file."""
    if format == "json":
        return "".join(json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in booklet.exercises).encode()
    # Imported here: PDF and Word documents need packages that may not be installed.
    write: Callable[[Booklet], bytes] = import_module(f"unshuffle.exercises.formats.{format}").write
    return write(booklet)
