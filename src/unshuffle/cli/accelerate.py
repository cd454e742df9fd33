"""`unshuffle accelerate`: a model folder whose encoder runs in 8 bits, if its orders stay as good."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unshuffle.cli.options import InputFormat, ParserName
from unshuffle.errors import DataError


def accelerate(
    model: Annotated[str, typer.Argument(help="Model folder, or the name of a shipped one.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write; it must not be there yet.")],
    check: Annotated[Path, typer.Option(help="Documents in their true order, on which both models are compared.")],
    held: Annotated[int | None, typer.Option(min=1, help="Compare on at most so many of them.")] = None,
    most_lost: Annotated[float, typer.Option(min=0, help="Points of tau that may be lost.")] = 0.3,
    results: Annotated[Path | None, typer.Option(help="Write the figures to this JSON file too.")] = None,
    input: InputFormat = None,
    parser: ParserName = None,
    seed: Annotated[int, typer.Option(help="Seed of the shuffles.")] = 1,
) -> None:
    """Write a copy of a model with its encoder in 8 bits for ONNX Runtime; refuse where tau falls too far."""
    from itertools import islice

    from unshuffle.cli.tables import write_table
    from unshuffle.text.readers.read import read_documents

    documents = list(islice(read_documents(check, str(input) if input else None), held))
    if not documents:
        raise DataError(f"{check}: it holds no document. Give at least one.")
    from unshuffle.export.accelerate import accelerate as run
    from unshuffle.machine.threads import use_threads
    from unshuffle.storage.files import write_json

    use_threads(large=True)
    found = run(model, out, documents, most_lost=most_lost, seed=seed, parser=parser)
    if results is not None:
        write_json(results, found.to_json())
    rows = [
        [
            name,
            f"{one.tau:.2f}",
            f"{one.error:.2f}",
            f"{100 * one.same:.0f} %",
            f"{found.times(name):.2f}",
            f"{found.times_with_parsing(name):.2f}",
        ]
        for name, one in found.measured.items()
    ]
    write_table(["model", "tau", "± of difference", "same orders", "times as fast", "with parsing"], rows)
    sizes = " + ".join(f"{size / 1e6:.1f}" for size in (found.sizes["before"], found.sizes["onnx"]))
    typer.echo(f"{out}: {found.sizes['after'] / 1e6:.1f} MB ({sizes}), {found.documents} documents compared")
