"""`unshuffle order-files`: whole folders of documents in, folders of Parquet out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unshuffle.bulk.order_files import Engine
from unshuffle.cli.options import KeepIfUnsure, ModelName, ParserName


def order_files(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="JSONL and Parquet files, and folders of them.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the answers; an unfinished run is resumed.")],
    engine: Annotated[Engine, typer.Option(help="Processes of this machine, or a Ray cluster.")] = "local",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; one per core if left out.")] = None,
    model: ModelName = "default",
    parser: ParserName = None,
    beam: Annotated[int | None, typer.Option(min=1, help="Width of the search; 8 if left out.")] = None,
    keep_if_unsure: KeepIfUnsure = None,
    longest: Annotated[int, typer.Option(min=1, help="Documents of more sentences are reported as errors.")] = 1_000,
    part: Annotated[int, typer.Option(min=1, help="Rows per part; a part is finished whole or done again.")] = 2_000,
    address: Annotated[
        str | None, typer.Option(help="Address of a running Ray cluster; if left out, one is started here.")
    ] = None,
) -> None:
    """Put the sentences of every row of large files in order; bad rows go to a table of errors."""
    from unshuffle.bulk.order_files import order_files as run
    from unshuffle.cli.terminal import Pace, spinner
    from unshuffle.system.options import read_threshold

    with spinner("Ordering") as status:
        pace = Pace(status)
        found = run(
            paths,
            out,
            engine,
            model,
            workers=workers,
            parser=parser,
            beam=beam,
            keep_if_unsure=read_threshold(keep_if_unsure),
            longest=longest,
            rows_per_part=part,
            address=address,
            planned=pace.plan,
            report=lambda done: pace.add(done.ordered + done.bad),
        )
    for line in found.broken:
        typer.echo(f"unshuffle: {line}", err=True)
    typer.echo(
        f"{found.ordered} ordered, {found.bad} bad, {found.files} files; "
        f"{found.resumed} of {found.parts} parts were done before."
    )
    if found.broken:
        raise typer.Exit(1)
