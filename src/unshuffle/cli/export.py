"""`unshuffle export`: a trained model as it runs without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unshuffle.storage.files import Storage


def export(
    model: Annotated[str, typer.Argument(help="Folder of a trained model.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")],
    storage: Annotated[Storage, typer.Option(help="How large matrices of weights are stored.")] = "int8",
) -> None:
    """Write the small form of a trained model, which runs without torch."""
    from unshuffle.system.loading import export as write

    written = write(model, out, storage)
    size = sum(file.stat().st_size for file in written.iterdir() if file.is_file())
    typer.echo(f"{written}: {size / 1e6:.1f} MB; it runs without torch.")
