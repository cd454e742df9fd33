"""`unshuffle domains`: figures of a model on each kind of text of a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unshuffle.cli.options import ModelName


def domains(
    recipe: Annotated[str, typer.Argument(help="A recipe of the package, or a TOML file.")],
    data: Annotated[Path, typer.Option(help="Folder that holds the sets the recipe names.")],
    results: Annotated[Path, typer.Option(help="Folder for the figures.")],
    model: ModelName = "default",
    shuffles: Annotated[int, typer.Option(min=1, help="How often each document is shuffled and ordered.")] = 3,
    most: Annotated[int | None, typer.Option(min=1, help="At most so many documents of each kind.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder of the parse cache.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the shuffles.")] = 1,
    choosing: Annotated[
        bool, typer.Option(help="Take the validation texts, as one must to choose between models.")
    ] = False,
) -> None:
    """Score a model on the test texts of a recipe, beside orders that need no training."""
    import tempfile

    from unshuffle.cli.reading import load_orderer
    from unshuffle_research.model.domains import write_domain_figures
    from unshuffle_research.model.recipe import load_recipe

    orderer = load_orderer(model)
    with tempfile.TemporaryDirectory() as scratch:
        paths = write_domain_figures(
            orderer,
            load_recipe(recipe),
            data,
            results,
            seed=seed,
            cache=cache or Path(scratch),
            shuffles=shuffles,
            most=most,
            choosing=choosing,
        )
        for path in paths:
            typer.echo(str(path))
