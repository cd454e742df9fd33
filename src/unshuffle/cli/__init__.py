"""The command `unshuffle`: one file a command; each reads arguments, makes one call and writes the answer."""

from __future__ import annotations

import sys

import typer

from unshuffle.cli.evaluate import evaluate
from unshuffle.cli.recipe import recipe
from unshuffle.cli.train import train
from unshuffle.errors import UnshuffleError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for command in (train, evaluate, recipe):
    app.command()(command)


@app.callback()
def root() -> None:
    """Put sentences into the order in which they read coherently."""


def main() -> None:
    """Runs the command; an error of the user's is one line and exit code 2."""
    try:
        app()
    except UnshuffleError as error:
        typer.echo(f"unshuffle: {error}", err=True)
        sys.exit(2)
