"""`unshuffle prepare`: a data set from the form in which people have it to the one that trainings read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def prepare(
    name: Annotated[str, typer.Argument(help="nips, aan, acl, sind, roc or arxiv.")],
    source: Annotated[Path, typer.Argument(help="File or folder as it was handed out.")],
    out: Annotated[Path, typer.Argument(help="Folder for train, valid and test files.")],
    any_size: Annotated[bool, typer.Option(help="Take it even if its sizes are not the known ones.")] = False,
) -> None:
    """Prepare a data set of the paper; sizes and, where known, checksums are checked."""
    from unshuffle_research.experiments.datasets.prepare import prepare as prepared

    found = prepared(name, source, out, any_size=any_size)
    sizes = ", ".join(f"{split} {size:,}" for split, size in found.sizes.items())
    known = f"the form '{found.form}'" if found.form else "no known form"
    sums = "checksums right" if found.checked else "no checksum known; they are in dataset.json"
    typer.echo(f"{out}: {sizes} documents; {known}, {sums}.")
