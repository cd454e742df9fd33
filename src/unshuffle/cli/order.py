"""`unshuffle order`: sentences in any order in, a coherent order out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unshuffle.cli.options import (
    Broken,
    Device,
    File,
    Form,
    InputFormat,
    JudgeAddress,
    JudgeCache,
    JudgeModel,
    KeepIfUnsure,
    ModelName,
    OutputFile,
    OutputForm,
    ParserName,
    Text,
    Units,
    refuse_idle,
)
from unshuffle.errors import ConfigError
from unshuffle.machine import settled

if TYPE_CHECKING:
    from unshuffle.rank.constraints import Constraints
    from unshuffle.result import Ordering
    from unshuffle.text.split import Unit


def order(
    context: typer.Context,
    file: File = None,
    text: Text = None,
    input: InputFormat = None,
    unit: Units = "sentence",
    model: ModelName = "default",
    parser: ParserName = None,
    beam: Annotated[int | None, typer.Option(min=1, help="Width of the search; 8 if left out.")] = None,
    n_best: Annotated[
        int | None, typer.Option(min=1, help="How many of the best orders `json` lists; 5 if left out.")
    ] = None,
    keep_if_unsure: KeepIfUnsure = None,
    before: Annotated[
        list[str] | None, typer.Option(metavar="I,J", help="Sentence I comes before J, counted from 0; repeatable.")
    ] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option(metavar="POSITION:I", help="Sentence I goes to POSITION, both counted from 0; repeatable."),
    ] = None,
    sources: Annotated[
        str, typer.Option(metavar="A,A,B", help="Source of each sentence; those of one source keep their input order.")
    ] = "",
    judge: JudgeAddress = "",
    judge_model: JudgeModel = "",
    judge_cache: JudgeCache = None,
    judge_trust: Annotated[Path | None, typer.Option(help="File written by `unshuffle trust-judge`.")] = None,
    questions: Annotated[int, typer.Option(min=0, help="Ask the judge at most this many questions per document.")] = 20,
    device: Device = "cpu",
    form: OutputForm = Form.text,
    out: OutputFile = None,
    on_error: Broken = "stop",
) -> None:
    """Put the sentences of each document in the order that reads best."""
    from unshuffle.cli.reading import CommandInput
    from unshuffle.cli.remarks import Remarks
    from unshuffle.cli.terminal import counted, is_watched, to_terminal, write_pieces
    from unshuffle.judge.opening import open_judge
    from unshuffle.system.options import OrderOptions, read_threshold

    if not judge:
        asking = ("judge_model", "judge_cache", "judge_trust", "questions")
        refuse_idle(context, asking, "there is no judge to ask. Add --judge.")
    options = OrderOptions(
        beam=beam,
        n_best=n_best,
        keep_if_unsure=read_threshold(keep_if_unsure),
        constraints=read_constraints(before or [], fixed or [], sources),
        judge=open_judge(judge, model=judge_model, cache=judge_cache, trust=judge_trust) if judge else None,
        questions=questions,
    )
    reading = CommandInput(file, text, input, unit, on_error)
    documents = reading.documents()
    from unshuffle.cli.reading import load_orderer

    orderer = load_orderer(model, device=device, parser=parser)
    found = settled(orderer.order_many(documents, options))
    orderings = counted(found, "Ordering", reading.expected, answers_shown=to_terminal(out))
    passed = Remarks(orderings, watched=is_watched())
    write_pieces(map(_json, passed) if form is Form.json else _texts(passed, unit), out)
    for line in passed.lines():
        typer.echo(line, err=True)
    reading.tell()


def read_constraints(before: list[str], fixed: list[str], sources: str = "") -> Constraints | None:
    """`["0,2"]`, `["0:3"]` -> Constraints(before=((0, 2),), fixed=((0, 3),)); between commas, nothing is no source."""
    if not before and not fixed and not sources:
        return None
    from unshuffle.rank.constraints import Constraints

    return Constraints(
        before=tuple(_two(pair, ",", "--before") for pair in before),
        fixed=tuple(_two(pair, ":", "--fixed") for pair in fixed),
        within_source=tuple(name.strip() or None for name in sources.split(",")) if sources else (),
    )


def _two(given: str, between: str, option: str) -> tuple[int, int]:
    first, _, second = given.partition(between)
    if not (first.strip().isdecimal() and second.strip().isdecimal()):
        raise ConfigError(f"{option} {given}: expected two numbers, such as 0{between}2.")
    return int(first), int(second)


def _json(ordering: Ordering) -> str:
    return json.dumps(ordering.to_json(), ensure_ascii=False) + "\n"


def _texts(orderings: Iterable[Ordering], unit: Unit) -> Iterator[str]:
    """One sentence per line, or paragraphs with blank lines between; what stands between documents is read alike."""
    within, between = ("\n", "\n") if unit == "sentence" else ("\n\n", "\n---\n\n")
    for number, ordering in enumerate(orderings):
        lines = (" ".join(sentence.split()) for sentence in ordering)
        yield (between if number else "") + within.join(lines) + "\n"
