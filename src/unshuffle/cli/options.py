"""Options that several commands have, under one name and one explanation each."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unshuffle.text.readers.formats import Format, OnBroken
from unshuffle.text.split import Unit


class Form(StrEnum):
    """How an answer is written."""

    text = "text"
    json = "json"


class PrecisionChoice(StrEnum):
    """In what numbers a model computes."""

    auto = "auto"
    single = "32"
    bf16 = "bf16"


File = Annotated[
    str | None, typer.Argument(metavar="FILE|-", help="Documents, packed (.gz, .xz) or not; stdin if left out.")
]
Text = Annotated[str | None, typer.Option("--text", "-t", help="The text itself, in place of a file.")]
ModelName = Annotated[str, typer.Option("--model", "-m", help="Model folder, or the name of a shipped one.")]
ParserName = Annotated[str | None, typer.Option("--parser", help="A parser in place of the model's.")]
Device = Annotated[str, typer.Option("--device", help="Where the model runs: cpu, cuda, mps, or auto for the best.")]
PrecisionName = Annotated[
    PrecisionChoice,
    typer.Option(
        "--precision", help="bf16: products in bfloat16, weights in single precision; auto: where it is faster."
    ),
]
InputFormat = Annotated[
    Format | None, typer.Option("--input", "-i", help="Format; else the file's name or the content tells it.")
]
Broken = Annotated[OnBroken, typer.Option("--on-error", help="What to do with a record that cannot be read.")]
Units = Annotated[Unit, typer.Option("--unit", help="What running text is cut into and put in order.")]
KeepIfUnsure = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|auto",
        help="Leave the input order where confidence is lower; `auto` takes the model's own threshold.",
    ),
]
OutputForm = Annotated[Form, typer.Option("--format", "-f", help="How to write the answer.")]
OutputFile = Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file, whole or not at all.")]
JudgeAddress = Annotated[
    str,
    typer.Option(
        "--judge",
        metavar="URL|PATH",
        help="Ask about unsure pairs: a chat-completions endpoint (key in UNSHUFFLE_JUDGE_KEY), or a local model.",
    ),
]
JudgeModel = Annotated[
    str, typer.Option("--judge-model", metavar="NAME", help="The model that the endpoint is to use.")
]
JudgeCache = Annotated[
    Path | None, typer.Option("--judge-cache", help="Folder in which the endpoint's answers are kept and looked for.")
]
