"""Options that several commands have, under one name and one explanation each."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Form(StrEnum):
    """How an answer is written."""

    text = "text"
    json = "json"


class OnError(StrEnum):
    """What to do with a record that cannot be read."""

    stop = "stop"
    skip = "skip"


class Unit(StrEnum):
    """What running text is cut into."""

    sentence = "sentence"
    paragraph = "paragraph"


class Input(StrEnum):
    """Formats of documents."""

    LINES = "lines"
    TEXT = "text"
    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    LOWER = "lower"


class PrecisionChoice(StrEnum):
    """In what numbers a model computes."""

    single = "32"
    bf16 = "bf16"


File = Annotated[
    str | None, typer.Argument(metavar="[FILE|-]", help="Documents, packed (.gz, .xz) or not; stdin if left out.")
]
Text = Annotated[str | None, typer.Option("--text", "-t", help="The text itself, in place of a file.")]
ModelName = Annotated[str, typer.Option("--model", "-m", help="Model folder, or the name of a shipped one.")]
ParserName = Annotated[str | None, typer.Option("--parser", help="A parser in place of the model's.")]
Device = Annotated[str, typer.Option("--device", help="Where the model runs: cpu, cuda, mps, or auto for the best.")]
PrecisionName = Annotated[
    PrecisionChoice, typer.Option("--precision", help="bf16: products in bfloat16, weights stay in single precision.")
]
InputFormat = Annotated[
    Input | None, typer.Option("--input", "-i", help="Format; else the file's name tells it, and stdin is `lines`.")
]
Broken = Annotated[OnError, typer.Option("--on-error", help="What to do with a record that cannot be read.")]
Units = Annotated[Unit, typer.Option("--unit", help="What running text is cut into and put in order.")]
OutputForm = Annotated[Form, typer.Option("--format", "-f", help="How to write the answer.")]
OutputFile = Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file, whole or not at all.")]


class Storage(StrEnum):
    """How weights are stored."""

    float32 = "float32"
    float16 = "float16"
    int8 = "int8"
