"""The command `unshuffle`: one file per command; each reads arguments, makes one call and writes the answer."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any, NoReturn

import typer

from unshuffle.cli.commands import GO_ON, HELP, Commands
from unshuffle.errors import Doubt, UnshuffleError
from unshuffle.storage.files import advice_on

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What a wrong option raises, from whichever click this typer is built on."""
STOPPED = 130
"""Exit code after Ctrl-C; typer gives it back in place of the interrupt."""

app = typer.Typer(cls=Commands, no_args_is_help=True, context_settings=HELP, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        from unshuffle import __version__

        typer.echo(f"unshuffle {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Put sentences into the order in which they read coherently."""


def main() -> None:
    """Runs the command; an error of the user's is one line and exit code 2."""
    if sys.stdout is None:  # closed before the command began; the next file that is opened would take its place
        _leave("unshuffle: stdout is closed. Open it, or send it to /dev/null.", 2)
    warnings.simplefilter("ignore", Doubt)
    try:
        code = app(standalone_mode=False)
    except UnshuffleError as error:
        _leave(f"unshuffle: {error}", 2)
    except UsageError as error:
        _leave(_usage(error), 2)
    except BrokenPipeError:  # whoever read the answer has had enough
        _give_up_stdout()
        _leave("", 1)
    except OSError as error:
        _give_up_stdout()
        where = error.filename or "output"
        _leave(f"unshuffle: {where}: {error.strerror or error}. {advice_on(error)}.", 2)
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    if code == STOPPED:
        _leave(f"Stopped. {GO_ON.get(''.join(sys.argv[1:2]), '')}".rstrip(), STOPPED)
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: Exception) -> str:
    """One line; empty where no command was named, because then the help has been shown."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    line = " ".join(message.split())
    if line.startswith("Got unexpected extra argument"):
        line = f"{line}.{_one_file(getattr(error, 'ctx', None))}"
    ending = "" if line.endswith((".", "?")) else "."
    context, command = getattr(error, "ctx", None), ""
    while context is not None and context.parent is not None:  # the outermost is `unshuffle` itself
        context, command = context.parent, f" {context.info_name}{command}"
    return f"unshuffle: {line}{ending} See unshuffle{command} --help." if line else ""


def _one_file(context: Any) -> str:
    """What to do with several files, where the command takes one."""
    if context is None or all(parameter.name != "file" for parameter in context.command.params):
        return ""
    many = ", or order-files for many" if context.info_name == "order" else ""
    return f" Give one file at a time{many}."


def _leave(message: str, code: int) -> NoReturn:
    if message:
        typer.echo(message, err=True)
    sys.exit(code)


def _give_up_stdout() -> None:
    """What could not be written would be tried, and fail, once more at the end of the program."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
