"""`unshuffle systems`: the table of what can be trained."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer

from unshuffle.cli.options import Form, OutputForm


def systems(form: OutputForm = Form.text) -> None:
    """List the systems: where they come from and which part fills each slot."""
    from unshuffle.system.rows import outline, system_names

    rows = [{"name": name, **asdict(outline(name))} for name in system_names()]
    rows = [{"name": row["name"], **row["about"], "parts": row["parts"]} for row in rows]
    if form is Form.json:
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    from unshuffle.cli.terminal import write_table

    slots = list(rows[0]["parts"])
    lines = [[row["name"], row["title"], row["paper"], *(row["parts"][slot] or "–" for slot in slots)] for row in rows]
    write_table(["name", "title", "paper", *(slot.replace("_", " ") for slot in slots)], lines)
