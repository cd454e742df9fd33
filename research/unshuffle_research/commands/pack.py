"""`unshuffle pack`: a trained model as it is given away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unshuffle.storage.files import Storage


def pack(
    model: Annotated[Path, typer.Argument(help="Folder of a trained model.")],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    name: Annotated[str, typer.Option(help="The model's name.")] = "",
    storage: Annotated[Storage, typer.Option(help="How weights are stored.")] = "float16",
    card: Annotated[Path | None, typer.Option(help="The model card, as Markdown.")] = None,
    parser: Annotated[str | None, typer.Option(help="Parser that the model names, in place of its own.")] = None,
    recipe: Annotated[str | None, typer.Option(help="The recipe it was trained by, to write its credits.")] = None,
    change: Annotated[list[str] | None, typer.Option("--set", help="Changes the recipe was run with.")] = None,
    data: Annotated[Path | None, typer.Option(help="The recipe's data folder.")] = None,
    before: Annotated[
        list[Path] | None, typer.Option(help="Credits of a model that the training began with; repeatable.")
    ] = None,
    seed: Annotated[list[int] | None, typer.Option(help="A seed the recipe was run with; repeatable.")] = None,
) -> None:
    """Write a model folder again: smaller weights, this package's parser, card and credits."""
    from dataclasses import replace

    from unshuffle.errors import ConfigError
    from unshuffle.system.folder import load_model, save_model
    from unshuffle.text.parsing.mentions import load_parser
    from unshuffle_research.model.credits import CREDITS, write_credits
    from unshuffle_research.model.recipe import load_recipe

    found = load_model(str(model))
    config = replace(found.config, parser=parser or found.config.parser)
    known = {"name": config.parser, "fingerprint": load_parser(config.parser).fingerprint}
    text = card.read_text(encoding="utf-8") if card is not None else found.card
    save_model(replace(found, name=name or found.name, config=config, parser=known, card=text), out, storage=storage)
    if recipe is not None:
        if data is None:
            raise ConfigError("pack: credits need the texts. Say --data FOLDER.")
        count = write_credits(load_recipe(recipe, change or []), data, seed or [1], out / CREDITS, before=before or [])
        typer.echo(f"{count} texts credited")
