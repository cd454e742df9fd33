"""A sheet on disk: JSON for programs, Markdown for people, plots as SVG."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from unshuffle.evaluation.results import command_line, commit, versions
from unshuffle.storage.files import read_json, write_json, write_text
from unshuffle_research.experiments.plan import OWN_DATA
from unshuffle_research.experiments.plots import save
from unshuffle_research.experiments.settings import Settings
from unshuffle_research.experiments.sheet import Sheet, Table

SUMMARY = "summary-"


def write_sheet(sheet: Sheet, name: str, settings: Settings, folder: Path, *, minutes: float) -> Path:
    """`summary-<dataset>.json` and `.md`, and `<dataset>-<plot>.svg`."""
    stem = re.sub(r"[^\w.-]+", "-", sheet.dataset)
    plots = []
    for plot in sheet.plots:
        file = f"{stem}-{plot.name}"
        save(plot.figure, folder / file)
        plots.append({"file": file, "caption": plot.caption})
    described = {
        "experiment": name,
        "title": settings.title,
        "place": settings.place,
        "question": settings.question,
        "dataset": sheet.dataset,
        "subtitle": sheet.subtitle,
        "command": command_line(),
        "commit": commit(),
        "versions": versions(),
        "minutes": round(minutes, 2),
        "tables": [asdict(table) for table in sheet.tables],
        "plots": plots,
        "notes": list(sheet.notes),
        "figures": sheet.figures,
        "runs": list(sheet.runs),
    }
    path = folder / f"{SUMMARY}{stem}.json"
    write_json(path, described)
    write_text(path.with_suffix(".md"), markdown(described))
    return path


def markdown(described: dict[str, Any]) -> str:
    """The whole sheet as a page of Markdown."""
    lines = [f"# {described['title']} ({described['place']})", "", described["question"], "", described["subtitle"], ""]
    for table in tables_of(described):
        lines += [f"**{table.caption}**", "", table.markdown()]
        lines += [table.note, ""] if table.note else []
    for plot in described["plots"]:
        lines += [f"![{plot['caption']}]({plot['file']}.svg)", "", plot["caption"], ""]
    lines += [f"- {note}" for note in described["notes"]]
    lines += ["", f"Command: `{described['command']}`", ""]
    return "\n".join(lines)


def tables_of(described: dict[str, Any]) -> list[Table]:
    """The tables of a sheet that was read back."""
    return [
        Table(table["caption"], tuple(table["head"]), tuple(map(tuple, table["rows"])), table.get("note", ""))
        for table in described["tables"]
    ]


def read_sheets(folder: Path) -> list[dict[str, Any]]:
    """All sheets of an experiment's folder, the paper's own data first; what several have to note, the first notes."""
    sheets = [read_json(path) for path in sorted(folder.glob(f"{SUMMARY}*.json"))]
    sheets.sort(key=lambda sheet: OWN_DATA not in sheet["subtitle"])
    noted: set[str] = set()
    for sheet in sheets:
        sheet["notes"] = [note for note in sheet["notes"] if note not in noted]
        noted |= set(sheet["notes"])
    return sheets
