"""`unshuffle serve`: the HTTP service and its page."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated

import typer

from unshuffle.cli.options import Device
from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.serve.settings import Batching, Limits, Settings


def serve(
    model: Annotated[str, typer.Option("--model", "-m", help="Folder or name of the model.")] = "default",
    compare: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="A further model that requests may name, to compare with; repeatable."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="UNSHUFFLE_TOKEN", help="Bearer token that clients must send; best set in the environment."
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A further name under which clients may address the service; repeatable."),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="Limit of bytes, sentences, words, characters, documents, document_cost or cost; repeatable.",
        ),
    ] = None,
    batch: Annotated[int, typer.Option(min=1, help="Documents per batch.")] = 32,
    window: Annotated[float, typer.Option(min=0, help="Milliseconds a request waits to share a batch.")] = 4.0,
    queue: Annotated[int, typer.Option(min=1, help="Documents that may wait before the answer is 503.")] = 256,
    seconds: Annotated[float, typer.Option(min=0.1, help="Seconds after which a request is given up.")] = 120.0,
    device: Device = "cpu",
) -> None:
    """Serve the page and the HTTP interface until stopped."""
    try:
        from unshuffle.serve.run import listen, run
    except ModuleNotFoundError:
        raise MissingExtra("The server", "serve") from None
    from unshuffle.cli.reading import load_orderer

    settings = Settings(
        host=host,
        port=port,
        token=token,
        allowed_hosts=tuple(allow_host or ()),
        limits=read_limits(limit or []),
        batching=Batching(window=window / 1000, documents=batch, waiting=queue, seconds=seconds),
    )
    sockets = listen(settings)  # before the model is loaded: that takes a while
    orderer, *others = (load_orderer(name, device=device) for name in (model, *(compare or ())))
    typer.echo(f"Open http://{host}:{port}/ in a browser; stop with Ctrl-C.")
    run(orderer, settings, sockets, others)


def read_limits(given: list[str]) -> Limits:
    """`["sentences=20"]` -> Limits(sentences=20)."""
    known = {limit.name for limit in fields(Limits)}
    numbers: dict[str, int] = {}
    for pair in given:
        name, _, number = pair.partition("=")
        if name not in known or not number.isdecimal():
            raise ConfigError(f"--limit {pair}: give name=number, with a name of {', '.join(sorted(known))}.")
        numbers[name] = int(number)
    return Limits(**numbers)
