"""What the help calls the values of options and arguments, in place of Python types."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from typer.core import TyperCommand

NAMES: dict[Any, str] = {str: "TEXT", Path: "PATH", int: "NUMBER", float: "NUMBER"}


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
