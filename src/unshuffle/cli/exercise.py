"""`unshuffle exercise`: scrambled-sentence exercises from a paragraph."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unshuffle.cli.options import Device, File, InputFormat, ModelName, Text, in_folder
from unshuffle.errors import ConfigError
from unshuffle.exercises.formats.write import BINARY, QUESTIONS, SUFFIXES, Format
from unshuffle.exercises.sheet import TITLE

if TYPE_CHECKING:
    from unshuffle.exercises.exercise import Exercise


def exercise(
    file: File = None,
    text: Text = None,
    input: InputFormat = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; stdout if left out.", callback=in_folder)
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", "-f", help="Format; by default the ending of --out decides, or it is text."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="Write the answer key to this file and not after the sheets.", callback=in_folder),
    ] = None,
    title: Annotated[str, typer.Option(help="Heading of the sheet.")] = TITLE,
    count: Annotated[int, typer.Option(min=1, max=50, help="Sheets of one text, each scrambled differently.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives other scrambles.")] = 0,
    margin: Annotated[float, typer.Option(min=0, max=1, help="Least lead of the right order over any other.")] = 0.4,
    mend: Annotated[
        bool, typer.Option("--mend", help="Leave out or merge sentences until the order is unambiguous.")
    ] = False,
    keep: Annotated[
        list[int] | None, typer.Option(min=1, help="A sentence, from 1, that --mend must not touch; repeatable.")
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept the order as it is, even if the model doubts it.")
    ] = False,
    model: ModelName = "default",
    device: Device = "cpu",
) -> None:
    """Make scrambled-sentence exercises with an answer key from text in its right order.

    Ends with code 1 if the model doubts the order, unless you --accept it.
    """
    from unshuffle.cli.reading import CommandInput
    from unshuffle.cli.terminal import spinner, write_bytes
    from unshuffle.exercises.exercise import ExerciseOptions
    from unshuffle.exercises.formats.write import written
    from unshuffle.exercises.make import make_exercises
    from unshuffle.exercises.sheet import Booklet

    format = _format(form, out, key)
    if accept and mend:
        raise ConfigError(
            "--accept: the order is then taken as it is, and --mend changes nothing. Give one of the two."
        )
    if keep and not mend:
        raise ConfigError("--keep: it only guards sentences against --mend. Add --mend.")
    reading = CommandInput(file, text, input)
    documents = list(reading.documents())
    from unshuffle.cli.reading import load_orderer

    orderer = load_orderer(model, device=device)
    kept = tuple(number - 1 for number in keep or ())
    options = ExerciseOptions(count=count, seed=seed, margin=margin, mend=mend, keep=kept)
    with spinner("Making exercises"):
        made = [make_exercises(orderer, one.sentences, options) for one in documents]
    booklet = Booklet(tuple(sheet for sheets in made for sheet in sheets), title, key=key is None)
    files = [(written(booklet, format), out)]
    if key is not None:
        answers = Booklet(booklet.exercises, title, sheets=False)
        files.append((written(answers, SUFFIXES.get(key.suffix.lower(), format)), key))
    for content, target in files:  # all of them are made before the first is written: no sheets without their key
        write_bytes(content, target)
    reading.tell()
    shown = format == "text" and out is None and key is None
    for (first, *_), document in zip(made, documents, strict=True):
        for line in _remarks(first, document.sentences, mend=mend, accept=accept, shown=shown):
            typer.echo(line, err=True)
    if not accept and not all(first.unambiguous for first, *_ in made):
        raise typer.Exit(1)


def _format(form: Format | None, out: Path | None, key: Path | None) -> Format:
    format = form or (SUFFIXES.get(out.suffix.lower()) if out is not None else "text")
    if format is None:
        raise ConfigError(
            f"--out {out}: its name does not tell the format. Add --format, or end the name in {', '.join(SUFFIXES)}."
        )
    if format in BINARY and out is None and sys.stdout.isatty():
        raise ConfigError(f"--format {format}: a terminal cannot show it. Add --out FILE.{format}.")
    if format in QUESTIONS and key is not None:
        raise ConfigError(f"--key: {format} has question and answer together. Leave --key out.")
    if out is not None and key is not None and out.resolve() == key.resolve():
        raise ConfigError(f"--key {key}: --out writes to that file too. Choose another for one of the two.")
    return format


def _remarks(made: Exercise, sentences: tuple[str, ...], *, mend: bool, accept: bool, shown: bool) -> list[str]:
    """What the teacher should know at once, in whole sentences; `shown`: the answer key above has said the verdict."""
    from unshuffle.exercises.mend import in_words

    remarks = [] if shown else [f"Mended. {change}." for change in made.changes]
    if made.changes:
        remarks.append("Use --keep NUMBER to leave a sentence alone, or --accept instead of --mend to change nothing.")
    if made.unambiguous or accept:
        return remarks
    if not shown:
        remarks.append(f"The order is ambiguous: {made.reason}.")
        remarks += [made.rival.why] if made.rival is not None else []
    if not made.proposals:
        return [*remarks, "Leaving out or merging sentences does not help. Choose another text, or use --accept."]
    best = made.proposals[0]
    texts = tuple(sentences[position] for position in best.sentences)
    effect = "Then the order is clear" if best.solves else f"Then the right order leads by {best.margin:.2f} of 1"
    remarks.append(f"{in_words(best.change, best.sentences, texts, done=False)}. {effect}.")
    if mend and best.solves:
        remarks.append("So few sentences have too few arrangements for this --count. Lower it, or use --accept.")
    else:
        remarks.append("If you are sure of the order, use --accept." if mend else "Use --mend to do so, or --accept.")
    return remarks
