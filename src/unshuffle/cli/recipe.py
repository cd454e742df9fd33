"""`unshuffle recipe`: train a model of the package from its openly licensed data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def recipe(
    name: Annotated[str, typer.Argument(help="A recipe of the package, or a TOML file.")],
    data: Annotated[Path, typer.Option(help="Folder that holds the sets the recipe names.")],
    out: Annotated[Path, typer.Option(help="Folder of the model to be made.")],
    start: Annotated[
        str, typer.Option("--from", help="Model whose weights to begin with, where they fit: a folder or a name.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Every random draw comes from it.")] = 1,
    resume: Annotated[bool, typer.Option(help="Go on with a training that was cut off.")] = False,
    change: Annotated[list[str] | None, typer.Option("--set", help="Change an option: table.option=value.")] = None,
    parser: Annotated[str | None, typer.Option(help="Parser for the training texts, in place of the recipe's.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder of parses and of a frozen encoder's vectors.")] = None,
    threads: Annotated[int, typer.Option(help="Threads of the processor to use.")] = 1,
) -> None:
    """Train a model on a mixture of texts, in stages that can be cut off and resumed."""
    import torch

    from unshuffle.cli.bars import StageBars
    from unshuffle.training.corpus import Splits
    from unshuffle.training.mixture import held_out, training_documents
    from unshuffle.training.recipe import load_recipe
    from unshuffle.training.run import Job, train_system

    torch.set_num_threads(threads)
    found = load_recipe(name, change or [])
    valid = held_out(found.mixture, data, "valid", found.mixture.valid_documents)
    splits = Splits(
        training_documents(found.mixture, data, seed),
        tuple(document for documents in valid.values() for document in documents),
        (),
    )
    job = Job(
        name=found.name,
        config=found.system,
        training=found.training,
        data=splits,
        out=out,
        seed=seed,
        resume=resume,
        cache=cache,
        parser=parser,
        start=start,
    )
    with StageBars() as bars:
        train_system(job, bars)
