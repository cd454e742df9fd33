"""`unshuffle mcp`: tools for agents, over standard input and output."""

from __future__ import annotations

from typing import Annotated

import typer

from unshuffle.cli.options import Device, ModelName
from unshuffle.cli.serve import read_limits


def mcp(
    model: ModelName = "default",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER", help="Limit of sentences, words, characters, document_cost or cost; repeatable."
        ),
    ] = None,
    device: Device = "cpu",
) -> None:
    """Offer ordering, scoring and exercises to agents (Model Context Protocol) on stdin and stdout.

    Meant to be started by the program that holds the agent: name this command in its list of servers.
    """
    limits = read_limits(limit or [])
    from unshuffle.cli.reading import load_orderer
    from unshuffle.serve.mcp import make_mcp_server  # before the model is loaded: it may not be installed

    make_mcp_server(load_orderer(model, device=device), limits).run("stdio")
