"""The formats that documents come in: their names, and how a file's name or content tells them."""

from __future__ import annotations

import codecs
import lzma
import re
import zlib
from itertools import pairwise
from typing import Literal

from unshuffle.text.split import split_sentences

Format = Literal["lines", "text", "jsonl", "json", "csv", "tsv", "parquet", "lower"]
OnBroken = Literal["stop", "skip"]
SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".lines": "lines",
    ".txt": "text",
    ".text": "text",
    ".lower": "lower",
}
"""What the ending of a file's name says."""
Recognised = Literal["jsonl", "json", "lines", "text"]
ENOUGH = 64 * 1024
"""Bytes that tell the format; what comes after them is written alike."""
_JSON = re.compile(r"""\{\s*["}]|\[\s*["\]]""")
_WHOLE = re.compile(r"[\[{]")
"""The first line of a JSON value that is laid out over several."""
_LIST = re.compile(r"""\[\s*(\{\s*["}]|\[\s*["\]])""")
_ENDED = re.compile(r"""[.!?…。！？।؟۔:][\s"'”’»」』)\]]*$""")


def recognised(head: bytes) -> Recognised:
    """The format of a file whose first bytes, packed or not, are these."""
    text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(_unpacked(head))
    lines = [line.strip() for line in text.splitlines()]
    if len(head) >= ENOUGH and len(lines) > 1:
        lines.pop()  # probably not whole
    filled = [line for line in lines if line]
    if not filled:
        return "lines"
    if _JSON.match(filled[0]):
        return "jsonl"
    if _WHOLE.fullmatch(filled[0]) or _LIST.match(filled[0]):
        return "json"
    return "text" if _runs_on(lines, filled) else "lines"


def _runs_on(lines: list[str], filled: list[str]) -> bool:
    """Whether lines end where the page does and not where a sentence does."""
    if not any(_ENDED.search(line) or len(split_sentences(line)) > 1 for line in filled):
        return False  # no full stop at all: a list
    several = sum(len(split_sentences(line)) > 1 for line in filled)
    if 3 * several > len(filled):
        return True
    neighbours = [(first, second) for first, second in pairwise(lines) if first and second]
    broken = sum(not _ENDED.search(first) for first, _ in neighbours)
    return 2 * broken > len(neighbours)


def _unpacked(head: bytes) -> bytes:
    """The beginning of what was packed; nothing where it is damaged, which the reader will say."""
    try:
        if head.startswith(b"\x1f\x8b"):
            return zlib.decompressobj(31).decompress(head, ENOUGH)
        if head.startswith(b"\xfd7zXZ\x00"):
            return lzma.LZMADecompressor().decompress(head, ENOUGH)
    except (zlib.error, lzma.LZMAError):
        return b""
    return head
