"""`unshuffle exercise`: a scrambled-sentence exercise from a paragraph."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unshuffle.errors import DataError
from unshuffle.exercises.make import Exercise, make_exercise
from unshuffle.exercises.sheet import sheet_html, sheet_text
from unshuffle.text.split import split_sentences


class Form(StrEnum):
    """How an exercise is written."""

    text = "text"
    html = "html"
    json = "json"


def exercise(
    file: Annotated[Path | None, typer.Argument(help="A paragraph in its right order; stdin if left out.")] = None,
    model: Annotated[str, typer.Option("--model", "-m", help="Folder or name of the model.")] = "default",
    form: Annotated[Form, typer.Option("--format", "-f", help="How to write it.")] = Form.text,
    title: Annotated[str, typer.Option(help="Heading of the sheet.")] = "Put the sentences in order",
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another scramble.")] = 0,
    margin: Annotated[float, typer.Option(min=0, max=1, help="Least lead of the right order over any other.")] = 0.4,
    mend: Annotated[bool, typer.Option(help="Drop or merge sentences until the order is unambiguous.")] = False,
) -> None:
    """Make a scrambled-sentence exercise with an answer key; leaves with code 1 if its order is ambiguous."""
    from unshuffle.cli.models import load_orderer

    sentences = split_sentences(_read(file))
    made = make_exercise(load_orderer(model), sentences, seed=seed, margin=margin, mend=mend)
    typer.echo(_write(made, form, title), nl=False)
    if not made.unambiguous:
        typer.echo(f"ambiguous: {made.reason}.{_advice(made, mend=mend)}", err=True)
        raise typer.Exit(1)


def _read(file: Path | None) -> str:
    try:
        return file.read_text(encoding="utf-8-sig") if file else sys.stdin.read().removeprefix("\ufeff")
    except OSError as error:
        raise DataError(f"{file}: {error.strerror}. Give a text file.") from None
    except UnicodeDecodeError:
        raise DataError(f"{file or 'stdin'}: it is not UTF-8 text. Save it as UTF-8.") from None


def _write(made: Exercise, form: Form, title: str) -> str:
    if form is Form.json:
        return json.dumps(made.to_json(), ensure_ascii=False, indent=2) + "\n"
    return sheet_html(made, title) if form is Form.html else sheet_text(made, title)


def _advice(made: Exercise, *, mend: bool) -> str:
    if not made.proposals:
        return " Dropping or merging sentences does not help: take another paragraph."
    best = made.proposals[0]
    places = " and ".join(str(place + 1) for place in best.sentences)
    more = "." if mend else ", or say --mend."
    return f" Try to {best.change} sentence {places} (margin {best.margin:.2f}){more}"
