"""`unshuffle recipe`: train a model of the package from its openly licensed data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unshuffle.cli.options import Device, PrecisionChoice, PrecisionName


def recipe(
    name: Annotated[str, typer.Argument(help="A recipe of the package, or a TOML file.")],
    data: Annotated[Path, typer.Option(help="Folder that holds the sets the recipe names.")],
    out: Annotated[Path, typer.Option(help="Folder of the model to be made.")],
    start: Annotated[
        str, typer.Option("--from", help="Model whose weights to begin with, where they fit: a folder or a name.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Every random draw comes from it.")] = 1,
    resume: Annotated[bool, typer.Option(help="Go on with a training that was cut off.")] = False,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="Change an option in every pass: table.option=value.")
    ] = None,
    parser: Annotated[str | None, typer.Option(help="Parser for the training texts, in place of the recipe's.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder of parses and of a frozen encoder's vectors.")] = None,
    passes: Annotated[int | None, typer.Option(min=1, help="Only the first so many of its passes.")] = None,
    threads: Annotated[int, typer.Option(help="Threads of the processor to use.")] = 1,
    device: Device = "cpu",
    precision: PrecisionName = PrecisionChoice.single,
) -> None:
    """Train a model on mixtures of texts, in passes and stages that can be cut off and resumed."""
    import torch

    from unshuffle.cli.terminal import StageBars
    from unshuffle.machine import keep_memory
    from unshuffle_research.model.passes import train_recipe
    from unshuffle_research.model.recipe import load_recipe

    torch.set_num_threads(threads)
    keep_memory()
    with StageBars() as bars:
        train_recipe(
            load_recipe(name, change or [], passes),
            data,
            out,
            seed=seed,
            start=start,
            resume=resume,
            cache=cache,
            parser=parser,
            report=bars,
            device=device,
            precision=precision.value,
        )
