"""The group of commands: the package's own and those of other installed packages, each imported when it is called."""

from __future__ import annotations

import ast
import inspect
import sys
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from unshuffle.cli.examples import epilog
from unshuffle.cli.parameters import Command, name_values, without_types
from unshuffle.errors import ConfigError

GROUP = "unshuffle.commands"
"""Entry points of other packages: a command's name, and the function that typer makes it from."""
PANELS = {
    "Use": {
        "order": "order:order",
        "order-files": "bulk:order_files",
        "score": "score:score",
        "graph": "graph:graph",
        "exercise": "exercise:exercise",
    },
    "Train": {
        "systems": "systems:systems",
        "train": "train:train",
        "fine-tune": "fine_tune:fine_tune",
        "export": "export:export",
    },
    "Measure": {"evaluate": "evaluate:evaluate", "calibrate": "calibrate:calibrate"},
    "Serve": {"serve": "serve:serve"},
}
"""The package's own commands as the help groups them."""
OWN = {
    name: EntryPoint(name, f"unshuffle.cli.{value}", GROUP)
    for panel in PANELS.values()
    for name, value in panel.items()
}
HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


class Loaded(TyperCommand):
    """A command whose module is imported when it is called or its own help is shown."""

    def __init__(self, point: EntryPoint) -> None:
        panel = next((title for title, panel in PANELS.items() if point.name in panel), None)
        super().__init__(point.name, rich_help_panel=panel or f"From {_package(point)}")
        self.point = point

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the real command, which runs in place of this one."""
        try:
            function = self.point.load()
        except Exception as error:
            if self.point.name in OWN:
                raise
            raise ConfigError(
                f"{_described(self.point)} cannot be loaded ({_reason(error)}). Reinstall or remove the package."
            ) from None
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        name = self.point.name
        app.command(name, cls=Command, epilog=epilog(name), context_settings=HELP)(function)
        command = typer.main.get_command(app)
        name_values(command.params, function)
        return command.make_context(info_name, args, parent=parent, **extra)


class Commands(TyperGroup):
    """Knows its own commands by name; looks for those of other packages only when it needs them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.points: dict[str, EntryPoint] = {}
        self._searched = False
        for point in OWN.values():
            self._add(point)

    def get_params(self, ctx: Any) -> list[Any]:
        """The options before any command."""
        return without_types(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name."""
        if cmd_name not in self.commands:
            self._search()
        return self.commands.get(cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, each command with its help; one whose module is missing or broken is left out."""
        self._search()
        for name, point in self.points.items():
            try:
                self.commands[name].help = documented(point)
            except Exception as error:
                self.commands.pop(name)
                _warn(f"{_described(point)} is left out: it cannot be loaded ({_reason(error)}).")
        return list(self.commands)

    def _add(self, point: EntryPoint) -> None:
        self.points[point.name] = point
        self.commands[point.name] = Loaded(point)

    def _search(self) -> None:
        if self._searched:
            return
        self._searched = True
        for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, _package(point))):
            if point.name not in self.points:
                self._add(point)
            elif _package(point) != (owner := _package(self.points[point.name])):
                _warn(f"{_described(point)} is left out: {owner} has a command of that name.")


def documented(point: EntryPoint) -> str:
    """The docstring of a command's function, read from the source: a list of commands should import none of them."""
    spec = find_spec(point.module)
    if spec is None:
        raise ModuleNotFoundError(f"there is no module '{point.module}'")
    source = getattr(spec.loader, "get_source", lambda module: None)(point.module)
    for node in ast.parse(source or "").body:
        if isinstance(node, ast.FunctionDef) and node.name == point.attr:
            return inspect.cleandoc(ast.get_docstring(node) or "")
    return ""


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "unshuffle"


def _described(point: EntryPoint) -> str:
    return f"command '{point.name}' of {_package(point)}"


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _warn(message: str) -> None:
    sys.stderr.write(f"unshuffle: {message}\n")
