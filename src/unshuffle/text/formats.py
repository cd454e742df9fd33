"""The names of what documents come in: formats, and how a broken record is treated."""

from __future__ import annotations

from typing import Literal

Format = Literal["lines", "text", "jsonl", "csv", "tsv", "parquet", "lower"]
OnBroken = Literal["stop", "skip"]

SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
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
