"""`unshuffle experiment`: one experiment of the paper, from data to tables, plots and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unshuffle_research import RESULTS


def experiment(
    name: Annotated[
        str,
        typer.Argument(
            help="main, controls, pairwise, length, head-tail, ablation, oracle, summaries, cost or density."
        ),
    ],
    data: Annotated[list[str], typer.Option(help="NAME=FOLDER with train, valid and test files; repeatable.")],
    out: Annotated[
        Path,
        typer.Option(help="Folder of results; the experiment writes into one of its own name.", show_default=False),
    ] = RESULTS,
    runs: Annotated[Path, typer.Option(help="Folder of models and stages that all experiments share.")] = Path("runs"),
    minutes: Annotated[float, typer.Option(min=0, help="Time for all trainings together; 0 for no limit.")] = 0.0,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 1,
    first_seed: Annotated[int, typer.Option(min=1, help="The first of them: others may be trained side by side.")] = 1,
    systems: Annotated[str, typer.Option(help="Rows to take in place of the experiment's, with commas.")] = "",
    change: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change an option of all rows, or of one: [ROW:]table.option=value."),
    ] = None,
    texts: Annotated[
        list[str] | None, typer.Option(help="For summaries: NAME=FILE, or duc2004=FOLDER as NIST hands it out.")
    ] = None,
    documents: Annotated[int, typer.Option(min=0, help="Train on so many documents; 0 for all.")] = 0,
    held_out: Annotated[int, typer.Option(min=0, help="Validate and test on so many each; 0 for all.")] = 0,
    shuffles: Annotated[int, typer.Option(min=1, help="How often each test document is shuffled and ordered.")] = 3,
    beam: Annotated[int, typer.Option(min=1, help="Beam of the final figures.")] = 64,
    resume: Annotated[
        bool, typer.Option(help="Use the orders predicted earlier; models are always gone on with.")
    ] = True,
    train: Annotated[bool, typer.Option(help="Train what is missing; otherwise it is left out and told.")] = True,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the processor to use.")] = 1,
) -> None:
    """Run an experiment of the paper; the same command goes on where it was cut off."""
    import torch
    from tqdm import tqdm

    from unshuffle.cli.terminal import StageBars
    from unshuffle.machine import keep_memory
    from unshuffle_research.experiments.run import run_experiment

    torch.set_num_threads(threads)
    keep_memory()
    with StageBars() as bars:
        written = run_experiment(
            name,
            data,
            out,
            runs,
            minutes=minutes,
            seeds=range(first_seed, first_seed + seeds),
            systems=[row.strip() for row in systems.split(",") if row.strip()],
            changes=change or [],
            texts=texts or [],
            documents=documents,
            held_out=held_out,
            shuffles=shuffles,
            beam=beam,
            resume=resume,
            training=train,
            progress=bars,
            say=tqdm.write,
        )
    for path in (*written, out / "report.html"):
        typer.echo(str(path))
