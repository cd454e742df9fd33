"""`unshuffle systems`: the table of what can be trained."""

from __future__ import annotations

import json
from typing import Any

import typer

from unshuffle.cli.options import Form, OutputForm


def systems(form: OutputForm = Form.text) -> None:
    """List the systems: where they come from and which part fills each slot."""
    from unshuffle.systems import load_row, system_names

    rows = [_described(load_row(name)) for name in system_names()]
    if form is Form.json:
        typer.echo(json.dumps(rows, ensure_ascii=False))
        return
    from unshuffle.cli.tables import write_table

    slots = list(rows[0]["parts"])
    lines = [[row["name"], row["title"], row["paper"], *(row["parts"][slot] or "–" for slot in slots)] for row in rows]
    write_table(["name", "title", "paper", *(slot.replace("_", " ") for slot in slots)], lines)


def _described(row: Any) -> dict[str, Any]:
    system = row.system.write()
    parts = {slot: system[slot]["kind"] for slot in ("sentence_encoder", "paragraph_encoder")}
    parts["refiner"] = "iterative" if row.system.refiner is not None else None
    parts["decoder"] = system["decoder"]["kind"]
    about = row.about
    return {
        "name": row.name,
        "title": about.title,
        "paper": about.paper,
        "year": about.year,
        "note": about.note,
        "parts": parts,
    }
