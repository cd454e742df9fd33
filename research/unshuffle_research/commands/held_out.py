"""`unshuffle held-out`: the validation texts of a recipe as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def held_out(
    recipe: Annotated[str, typer.Argument(help="A recipe of the package, or a TOML file.")],
    data: Annotated[Path, typer.Option(help="Folder that holds the sets the recipe names.")],
    out: Annotated[Path, typer.Option(help="Folder for the files.")],
    most: Annotated[int | None, typer.Option(min=1, help="At most so many documents of each kind.")] = None,
    excerpts: Annotated[int, typer.Option(min=1, help="Excerpts of each long text.")] = 1,
) -> None:
    """Write the validation texts of a recipe, one file per kind of text, for `unshuffle calibrate`."""
    import json

    from unshuffle.storage.files import write_text
    from unshuffle_research.model.mixture import held_out as drawn
    from unshuffle_research.model.recipe import load_recipe

    out.mkdir(parents=True, exist_ok=True)
    for name, documents in drawn(load_recipe(recipe).last.mixture, data, "valid", most, excerpts).items():
        rows = (json.dumps({"id": document.id, "sentences": document.sentences}) for document in documents)
        path = out / f"{name}.jsonl"
        write_text(path, "".join(f"{row}\n" for row in rows))
        typer.echo(str(path))
