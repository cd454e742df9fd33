"""`unshuffle train`: documents in, a model folder out."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from unshuffle.cli.options import Device, PrecisionChoice, PrecisionName
from unshuffle.errors import DataError, MissingExtra


def train(
    system: Annotated[str, typer.Option(help="A row of `unshuffle systems`, or a TOML file.")],
    data: Annotated[Path, typer.Option(help="Folder with train, valid and test files.")],
    out: Annotated[Path, typer.Option(help="Folder for the new model.")],
    encoder: Annotated[
        str, typer.Option(help="Transformer for systems that use one: a folder, package:NAME or hub:NAME.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 1,
    resume: Annotated[bool, typer.Option(help="Resume an interrupted training.")] = False,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="TABLE.OPTION=VALUE", help="Change an option; repeatable.")
    ] = None,
    stages: Annotated[Path | None, typer.Option(help="Folder of stages that several trainings share.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder of parses and of a frozen encoder's vectors.")] = None,
    results: Annotated[Path | None, typer.Option(help="Folder for the figures on valid and test.")] = None,
    dataset: Annotated[str, typer.Option(help="Name of the data set in the figures.")] = "",
    shuffles: Annotated[int, typer.Option(help="How often valid and test are shuffled and ordered.")] = 3,
    beam: Annotated[int, typer.Option(help="Width of the search for the final figures.")] = 64,
    threads: Annotated[int, typer.Option(help="Threads of the processor to use.")] = 1,
    device: Device = "cpu",
    precision: PrecisionName = PrecisionChoice.single,
) -> None:
    """Train a system on documents in their true order, and report its figures on the test file."""
    import time

    from unshuffle.system.rows import load_row, outline
    from unshuffle.training.corpus import check_splits, read_splits

    if find_spec("torch") is None:
        raise MissingExtra("Training", "train")
    if not system.endswith(".toml") and "/" not in system:
        outline(system)  # first what takes no time to find out: torch takes seconds to be imported
    check_splits(data)
    import torch

    from unshuffle.cli.terminal import StageBars, spinner, write_figures
    from unshuffle.evaluation.results import read_predictions
    from unshuffle.machine import keep_memory
    from unshuffle.parts.registry import validated
    from unshuffle.training.config import TrainingConfig
    from unshuffle.training.processes import leads
    from unshuffle.training.report import evaluated, tested
    from unshuffle.training.run import TrainingJob, train_system

    torch.set_num_threads(threads)
    keep_memory()
    chosen = [f"sentence_encoder.source={encoder}"] if encoder else []
    row = load_row(system, [*chosen, *(change or [])])
    training = validated("training", TrainingConfig, row.training)
    splits = read_splits(data)
    if results is not None and not splits.test:  # said now and not after hours of training
        raise DataError(
            f"{data}: there is no test file, so there are no figures to write. Add one or leave --results out."
        )
    started = time.monotonic()
    job = TrainingJob(
        name=row.name,
        config=row.system,
        training=training,
        data=splits,
        out=out,
        seed=seed,
        resume=resume,
        stages=stages,
        cache=cache,
        device=device,
        precision=precision.value,
    )
    with StageBars() as bars:
        orderer = train_system(job, bars)
    if not leads():
        return
    if results is not None:
        minutes = (time.monotonic() - started) / 60
        path = evaluated(orderer, job, dataset or data.name, results, minutes=minutes, shuffles=shuffles, beam=beam)
        write_figures(list(read_predictions(path.with_suffix(".orders.jsonl.gz"))))
        typer.echo(str(path))
    elif splits.test:
        with spinner("Ordering the test documents"):
            predictions = tested(orderer, job, shuffles=shuffles, beam=beam)
        write_figures(predictions)
    else:
        typer.echo("There is no test file, so there are no figures.", err=True)
