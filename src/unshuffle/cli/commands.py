"""The group of commands, the package's own and those of other installed packages, each imported when it is called."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from enum import Enum
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

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
        "train-judge": "judge:train_judge",
    },
    "Measure": {
        "evaluate": "evaluate:evaluate",
        "compare": "compare:compare",
        "calibrate": "calibrate:calibrate",
        "trust-judge": "judge:trust_judge",
    },
    "Serve": {"serve": "serve:serve", "mcp": "mcp:mcp"},
}
"""The package's own commands as the help groups them."""
OWN = {
    name: EntryPoint(name, f"unshuffle.cli.{value}", GROUP)
    for panel in PANELS.values()
    for name, value in panel.items()
}
HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
LABORATORY = ("experiment", "prepare", "recipe", "domains", "held-out", "pack")
"""Commands that come with the laboratory, which only a checkout has."""
EXAMPLES: dict[str, tuple[str, str]] = {
    "order": (
        "unshuffle order notes.txt",
        "unshuffle order chunks.jsonl --format json --keep-if-unsure auto --out ordered.jsonl",
    ),
    "order-files": (
        "unshuffle order-files corpus/ --out ordered/",
        "unshuffle order-files part-1.jsonl part-2.parquet --out ordered/ --workers 4",
    ),
    "score": (
        "unshuffle score draft.txt",
        "unshuffle score essays.jsonl --format json --out scores.jsonl",
    ),
    "graph": (
        "unshuffle graph story.txt --out story.svg",
        "unshuffle graph stories.jsonl --number 3 --out third.png",
    ),
    "exercise": (
        "unshuffle exercise story.txt --out sheet.pdf --key key.pdf --count 3",
        "unshuffle exercise story.txt --mend --keep 1 --out question.xml --format moodle",
    ),
    "systems": ("unshuffle systems", "unshuffle systems --format json"),
    "train": (
        "unshuffle train --system irse-grn --data corpus/ --out my-model",
        "unshuffle train --system se-grn --data corpus/ --out my-model --set training.epochs=5 --resume",
    ),
    "fine-tune": (
        "unshuffle fine-tune my-texts.jsonl --out my-model",
        "unshuffle fine-tune train.jsonl --valid valid.jsonl --test test.jsonl --out my-model --minutes 30",
    ),
    "export": (
        "unshuffle export my-model --out small-model",
        "unshuffle export my-model --out small-model --storage float16",
    ),
    "train-judge": (
        "unshuffle train-judge --data corpus/ --out my-judge",
        "unshuffle train-judge --data corpus/ --out my-judge --minutes 60 --epochs 3",
    ),
    "trust-judge": (
        "unshuffle trust-judge valid.jsonl --judge my-judge --out trust.json",
        "unshuffle trust-judge valid.jsonl --judge http://localhost:8080/v1 --judge-model NAME --out trust.json",
    ),
    "evaluate": (
        "unshuffle evaluate test.jsonl --model my-model",
        "unshuffle evaluate --predictions results/my-model.orders.jsonl.gz",
    ),
    "compare": (
        "unshuffle compare default my-model test.jsonl --plot compared.svg",
        "unshuffle compare first.orders.jsonl.gz second.orders.jsonl.gz --format json",
    ),
    "calibrate": (
        "unshuffle calibrate valid.jsonl --model my-model",
        "unshuffle calibrate news.jsonl stories.jsonl --model my-model --plot reliability.svg",
    ),
    "serve": (
        "unshuffle serve --compare my-model",
        "UNSHUFFLE_TOKEN=$(openssl rand -hex 16) unshuffle serve --host 0.0.0.0 --port 8080",
    ),
    "mcp": ("unshuffle mcp", "unshuffle mcp --model my-model --limit sentences=30"),
}
SAME, RESUME = "The same command goes on from here.", "The same command with --resume goes on from here."
GO_ON = {
    "order-files": SAME,
    "train": RESUME,
    "fine-tune": RESUME,
    "train-judge": SAME,
    "experiment": SAME,
    "recipe": RESUME,
}
"""What to do after Ctrl-C, for commands whose work is kept."""
NAMES: dict[Any, str] = {str: "TEXT", Path: "PATH", int: "NUMBER", float: "NUMBER"}


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
        if cmd_name in LABORATORY and cmd_name not in self.commands:
            raise ConfigError(f"{cmd_name}: this command needs the laboratory. In a checkout: make setup.")
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


def epilog(command: str) -> str | None:
    """The examples as the help shows them; None for commands of other packages."""
    if command not in EXAMPLES:
        return None
    # Blank lines keep the help from joining the lines.
    return "\n\n".join(["Examples:", *(f"  {line}" for line in EXAMPLES[command])])


class Command(TyperCommand):
    """A command whose help names no Python types."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, that of --help included."""
        return without_types(super().get_params(ctx))


def name_values(parameters: list[Any], function: Callable[..., None]) -> None:
    """Names the value of each option by its type in the function's signature, and arguments in capitals."""
    kinds = get_type_hints(function)
    for parameter in parameters:
        if parameter.metavar is None:
            option = parameter.param_type_name == "option"
            parameter.metavar = _name(kinds[parameter.name]) if option else parameter.name.upper()


def without_types(parameters: list[Any]) -> list[Any]:
    """Flags have no value, and the name of an argument says what it is."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: ""
        elif getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


def _name(kind: Any) -> str | None:
    if kind is bool:
        return ""
    if get_origin(kind) in (Union, UnionType, list):
        return next((_name(one) for one in get_args(kind) if one is not type(None)), None)
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(one.value) for one in kind)
    return NAMES.get(kind)
