"""Figures for people and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from unshuffle.evaluation.predict import Prediction

SHOWN = ("tau", "pmr", "acc_micro", "acc_macro", "head", "tail", "lcs_micro", "adjacent")
WIDEST = 240
"""Columns of a table that no terminal shows."""


def write_figures(predictions: Sequence[Prediction], form: str = "text") -> None:
    """Figures with their 95 % intervals: a table, or one JSON object."""
    from unshuffle.evaluation.intervals import intervals
    from unshuffle.evaluation.predict import figures
    from unshuffle.evaluation.results import plain

    found, bands = plain(figures(predictions)), intervals(predictions)
    if form == "json":
        rounded = {name: [round(band.lower, 3), round(band.upper, 3)] for name, band in bands.items()}
        typer.echo(json.dumps(found | {"interval": rounded}))
        return
    rows = [[name, f"{found[name]:.2f}", between(bands.get(name))] for name in SHOWN]
    if found["changed"] is not None:
        rows.append(["changed by the shuffle", f"{found['changed']:.2f}", ""])
    write_table(["measure", "mean", "95 % interval"], [*rows, ["documents", str(found["documents"]), ""]])


def between(band: Any) -> str:
    """The ends of an interval; a dash where there is none."""
    return f"{band.lower:.2f} to {band.upper:.2f}" if band is not None else "–"


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
