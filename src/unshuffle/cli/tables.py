"""Figures for people and for programs."""

from __future__ import annotations

import json
from typing import Any

import typer

from unshuffle.errors import ConfigError

SHOWN = ("tau", "pmr", "acc_micro", "acc_macro", "head", "tail", "lcs_micro", "adjacent")


def write_figures(figures: dict[str, Any], format: str) -> None:
    """A table, or one JSON object."""
    if format == "json":
        typer.echo(json.dumps(figures))
        return
    if format != "text":
        raise ConfigError(f"--format {format}: there is no such format. Say text or json.")
    from rich.console import Console
    from rich.table import Table

    table = Table("measure", "mean", "sd")
    for name in SHOWN:
        sd = figures["sd"]
        table.add_row(name, f"{figures[name]:.2f}", f"{sd[name]:.2f}" if sd else "-")
    table.add_row("documents", str(figures["documents"]), "")
    Console().print(table)
