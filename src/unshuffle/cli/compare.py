"""`unshuffle compare`: is one model better than another, or is it chance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unshuffle.cli.options import Device, Form, InputFormat, OutputForm, in_folder
from unshuffle.errors import ConfigError, DataError

if TYPE_CHECKING:
    from unshuffle.evaluation.compare import Compared, Difference
    from unshuffle.evaluation.predict import Prediction
    from unshuffle.text.document import Document

SystemName = Annotated[str, typer.Argument(help="A model folder, the name of a shipped one, or a file of predictions.")]


def compare(
    first: SystemName,
    second: SystemName,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Documents in their true order; predictions need none.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Plot of the comparison: .svg, .png or .pdf.", callback=in_folder)
    ] = None,
    shuffles: Annotated[int, typer.Option(min=1, help="How often each document is shuffled and ordered.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the shuffles.")] = 1,
    beam: Annotated[int | None, typer.Option(min=1, help="Width of the search.")] = None,
    device: Device = "cpu",
    input: InputFormat = None,
    form: OutputForm = Form.text,
) -> None:
    """Say how far the second of two models is ahead of the first on the same documents.

    Every measure comes with the 95% interval of the difference and p, the chance of so large a difference if there
    were none (paired bootstrap over documents); a star marks intervals that leave out zero.
    """
    _check(first, second, file)
    if plot is not None:
        from unshuffle.evaluation.reliability import check_picture

        check_picture(plot)
    documents = _documents(file, input)
    from unshuffle.evaluation.compare import compare as compared
    from unshuffle.evaluation.compare import write_comparison
    from unshuffle.evaluation.predict import orderable

    both = [_predictions(name, documents, shuffles, seed, beam, device) for name in (first, second)]
    found = compared(orderable(both[0]), orderable(both[1]), _names(first, second))
    left_out = len(both[0]) // found.shuffles - found.documents
    if left_out:
        typer.echo(f"unshuffle: left out, because they have one sentence: {left_out} of the documents.", err=True)
    _write(found, form)
    if plot is not None:
        write_comparison(found, plot)


def _write(found: Compared, form: Form) -> None:
    if form is Form.json:
        from unshuffle.evaluation.results import command_line, commit, versions

        origin = {"command": command_line(), "commit": commit(), "versions": versions()}
        typer.echo(json.dumps({**found.to_json(), **origin}, ensure_ascii=False))
        return
    from unshuffle.cli.terminal import write_table

    titles = [found.first, found.second, "difference", "95% interval", "p"]
    rows = [[name, *_cells(one)] for name, one in found.measures.items()]
    write_table(["measure", *titles], [*rows, ["documents", str(found.documents), "", "", "", ""]])
    lengths = [[group.name, str(group.documents), *_cells(group.tau)] for group in found.lengths]
    write_table(["sentences", "documents", *(f"tau, {name}" for name in titles[:2]), *titles[2:]], lengths)


def _check(first: str, second: str, file: Path | None) -> None:
    """What is wrong with the names is reported before anything takes time."""
    from unshuffle.system.loading import find_folder

    for name in (first, second):
        if Path(name).is_file():
            continue
        find_folder(name)
        if file is None:
            raise ConfigError(f"compare: {name} is a model and has nothing to order. Name a file of documents as well.")


def _documents(file: Path | None, input: InputFormat) -> list[Document]:
    if file is None:
        return []
    from unshuffle.text.readers.read import read_documents

    documents = list(read_documents(file, str(input) if input else None))
    if not documents:
        raise DataError(f"{file}: there are no documents in it. Give at least two.")
    return documents


def _predictions(
    name: str, documents: Sequence[Document], shuffles: int, seed: int, beam: int | None, device: str
) -> list[Prediction]:
    if Path(name).is_file():
        from unshuffle.evaluation.results import read_predictions

        return list(read_predictions(Path(name)))
    from unshuffle.cli.reading import load_orderer
    from unshuffle.cli.terminal import counted
    from unshuffle.evaluation.predict import predict

    def total() -> int:
        return shuffles * len(documents)

    orderer = load_orderer(name, device=device)
    return list(
        predict(
            orderer,
            documents,
            shuffles=shuffles,
            seed=seed,
            beam=beam,
            watch=lambda orderings: counted(orderings, f"Ordering with {name}", total),
        )
    )


def _names(first: str, second: str) -> tuple[str, str]:
    """The last part of each name, or the whole where that is the same for both."""
    short = Path(first).name.split(".")[0], Path(second).name.split(".")[0]
    return short if short[0] != short[1] else (first, second)


def _cells(one: Difference) -> list[str]:
    from unshuffle.cli.terminal import between

    p = "< 0.001" if one.gain.p_value < 0.001 else f"{one.gain.p_value:.3f}"
    star = " *" if one.certain else ""
    return [f"{one.first:.2f}", f"{one.second:.2f}", f"{one.gain.difference:+.2f}", between(one.gain), f"{p}{star}"]
