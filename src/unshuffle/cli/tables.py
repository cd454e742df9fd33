"""Figures for people and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import typer

from unshuffle.errors import ConfigError

SHOWN = ("tau", "pmr", "acc_micro", "acc_macro", "head", "tail", "lcs_micro", "adjacent")
WIDEST = 240
"""Columns of a table that no terminal shows."""


def write_figures(figures: dict[str, Any], format: str) -> None:
    """A table, or one JSON object."""
    if format == "json":
        typer.echo(json.dumps(figures))
        return
    if format != "text":
        raise ConfigError(f"--format {format}: there is no such format. Say text or json.")
    sd = figures["sd"]
    rows = [[name, f"{figures[name]:.2f}", f"{sd[name]:.2f}" if sd else "–"] for name in SHOWN]
    if figures["changed"] is not None:
        rows.append(["changed by the shuffle", f"{figures['changed']:.2f}", ""])
    write_table(["measure", "mean", "sd"], [*rows, ["documents", str(figures["documents"]), ""]])


def write_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout; cells are text, in which brackets mean nothing."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(*titles, box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    # Piped into a file, a table is as wide as its cells and not as a terminal that is not there.
    Console(width=None if sys.stdout.isatty() else WIDEST).print(table)
