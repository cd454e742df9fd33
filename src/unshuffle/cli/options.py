"""Options that several commands have, under one name and one explanation each."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unshuffle.errors import ConfigError
from unshuffle.text.readers.formats import Format, OnBroken
from unshuffle.text.split import Unit


def in_folder(file: Path | None) -> Path | None:
    """Refuses a file to be written whose folder is not there: more often than not its name is mistyped."""
    if file is None:
        return None
    if file.is_dir():
        raise ConfigError(f"{file}: this is a folder. Give the name of a file.")
    if not file.parent.is_dir():
        raise ConfigError(f"{file}: there is no folder {file.parent}. Create it first, or choose another.")
    if not file.exists() and not os.access(file.parent, os.W_OK):
        raise ConfigError(f"{file}: nothing can be written to the folder {file.parent}. Choose another.")
    return file


def refuse_idle(context: typer.Context, names: Collection[str], reason: str) -> None:
    """Refuses the first of some parameters that was given although nothing would come of it."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in names and source is not None and source.name == "COMMANDLINE":
            called = parameter.opts[0] if parameter.param_type_name == "option" else parameter.name.upper()
            raise ConfigError(f"{called}: {reason}")


def known_device(name: str) -> str:
    """Refuses a device that cannot be here, without the seconds that torch takes to be imported."""
    kind = name.partition(":")[0]
    if kind not in ("cpu", "cuda", "mps", "auto"):
        raise ConfigError(f"--device {name}: there is no such device. Use cpu, cuda, mps or auto.")
    drivers = ("nvidia*", "nvhost*", "nvmap", "kfd", "dxg")
    missing = kind == "cuda" and sys.platform == "linux" and not any(any(Path("/dev").glob(one)) for one in drivers)
    if missing or (kind == "mps" and sys.platform != "darwin"):
        raise ConfigError(f"--device {name}: this machine has no such device. Use cpu, or auto for the best it has.")
    return name


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
Text = Annotated[str | None, typer.Option("--text", "-t", help="The text itself, instead of a file.")]
ModelName = Annotated[str, typer.Option("--model", "-m", help="Model folder, or the name of a shipped one.")]
ParserName = Annotated[str | None, typer.Option("--parser", help="A parser to use instead of the model's own.")]
Device = Annotated[
    str,
    typer.Option("--device", help="Where the model runs: cpu, cuda, mps, or auto for the best.", callback=known_device),
]
PrecisionName = Annotated[
    PrecisionChoice,
    typer.Option(
        "--precision", help="bf16: products in bfloat16, weights in single precision; auto: where it is faster."
    ),
]
InputFormat = Annotated[
    Format | None,
    typer.Option(
        "--input",
        "-i",
        help="Format; by default the file's name or its content decides. `lower`: a document per line, <eos> between "
        "sentences, as the research corpora come.",
    ),
]
Broken = Annotated[OnBroken, typer.Option("--on-error", help="What to do with a record that cannot be read.")]
Units = Annotated[Unit, typer.Option("--unit", help="What running text is split into and put in order.")]
KeepIfUnsure = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|auto",
        help="Keep the input order where confidence is lower; `auto` uses the model's own threshold.",
    ),
]
OutputForm = Annotated[Form, typer.Option("--format", "-f", help="How to write the answer.")]
OutputFile = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write to this file, whole or not at all.", callback=in_folder)
]
JudgeAddress = Annotated[
    str,
    typer.Option(
        "--judge",
        metavar="URL|PATH",
        help="Ask about unsure pairs: a chat-completions endpoint (key in UNSHUFFLE_JUDGE_KEY), or a local model.",
    ),
]
JudgeModel = Annotated[str, typer.Option("--judge-model", metavar="NAME", help="The model for the endpoint to use.")]
JudgeCache = Annotated[
    Path | None, typer.Option("--judge-cache", help="Folder in which the endpoint's answers are cached.")
]
