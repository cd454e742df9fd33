"""`unshuffle fine-tune`: a model adapted to the user's own documents."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from unshuffle.cli.options import Device, Form, InputFormat, OutputForm, ParserName, PrecisionChoice, PrecisionName
from unshuffle.errors import ConfigError, DataError, MissingExtra

SHOWN = ("tau", "pmr", "acc_micro", "acc_macro")


def fine_tune(
    file: Annotated[Path, typer.Argument(help="Documents in their true order.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the new model.")],
    source: Annotated[str, typer.Option("--from", help="Model folder, or the name of a shipped one.")] = "default",
    valid: Annotated[
        Path | None, typer.Option(help="Held-out documents; by default every tenth document of FILE.")
    ] = None,
    test: Annotated[Path | None, typer.Option(help="Documents to report on; none is trained on.")] = None,
    results: Annotated[Path | None, typer.Option(help="Folder for the test figures and orders.")] = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="Time for training; the report takes a little more.")] = 10.0,
    refiner: Annotated[bool, typer.Option(help="Adapt a refiner with encoders of its own too.")] = False,
    input: InputFormat = None,
    parser: ParserName = None,
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 1,
    resume: Annotated[bool, typer.Option(help="Resume an interrupted training.")] = False,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="OPTION=VALUE", help="Change an option of training; repeatable."),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the processor to use.")] = 1,
    device: Device = "cpu",
    precision: PrecisionName = PrecisionChoice.auto,
    form: OutputForm = Form.text,
) -> None:
    """Adapt a model to your documents and report what it gained on those held out."""
    from unshuffle.text.readers.read import read_documents
    from unshuffle.training.enough import check_documents, check_folder

    if results is not None and test is None:
        raise ConfigError("fine-tune: results are those of test documents. Add --test FILE.")
    if find_spec("torch") is None:
        raise MissingExtra("Training", "train")
    check_folder(out, source, resume=resume)
    format = str(input) if input else None
    documents = tuple(read_documents(file, format))
    held_out = tuple(read_documents(valid, format)) if valid is not None else None
    unseen = tuple(read_documents(test, format)) if test is not None else ()
    for named, found in ((valid, held_out), (test, unseen)):
        if named is not None and not found:
            raise DataError(f"{named}: there are no documents in it. Give at least one.")
    check_documents(documents, held_out)
    import torch

    from unshuffle.cli.terminal import StageBars
    from unshuffle.machine import keep_memory
    from unshuffle.training.adaptation import FineTuning
    from unshuffle.training.finetune import fine_tuned

    torch.set_num_threads(threads)
    keep_memory()
    job = FineTuning(
        source=source, documents=documents, valid=held_out, out=out, minutes=minutes, refiner=refiner, parser=parser,
        seed=seed, resume=resume, changes=tuple(change or ()), test=unseen, results=results,
        dataset=test.resolve().parent.name if test is not None else "", device=device, precision=precision.value,
    )  # fmt: skip
    with StageBars() as bars:
        report = fine_tuned(job, bars)
    if form is Form.json:
        typer.echo(json.dumps(report.to_json()))
        return
    from unshuffle.cli.terminal import between, write_table

    for where, held in (("held out", report), ("test", report.test)):
        if held is None:
            continue
        before, after = held.before.mean, held.after.mean
        rows = []
        for name in SHOWN:
            old, new = getattr(before, name), getattr(after, name)
            rows.append([name, f"{old:.2f}", f"{new:.2f}", f"{new - old:+.2f}", between(held.gains.get(name))])
        titles = [where, "before", "after", "gain", "95% interval of the gain"]
        write_table(titles, [*rows, ["documents", str(after.documents), "", "", ""]])
    if not report.improved:
        typer.echo("The new weights are no better, so the folder has the old ones.", err=True)
    typer.echo(str(out))
