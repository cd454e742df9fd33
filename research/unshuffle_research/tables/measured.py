"""Tables of what was measured: speed, service and bulk runs."""

from __future__ import annotations

import json
from typing import Any

from unshuffle_research import RESULTS


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def benchmarks() -> list[dict[str, Any]]:
    """What `python -m unshuffle_research.benchmarks` has written, trial runs left out."""
    files = sorted((RESULTS / "benchmarks").glob("*.json"))
    found = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return [run for run in found if isinstance(run.get("targets"), list) and not run.get("quick")]


def figures_of(name: str) -> dict[str, Any]:
    """What one benchmark measured beside its targets; nothing where it was not run."""
    return next((run["figures"] for run in benchmarks() if run["benchmark"] == name), {})


def speed() -> str:
    """Every target of every benchmark."""
    rows = []
    for run in benchmarks():
        for target in run["targets"]:
            limit = f"{'≤' if target['at_most'] else '≥'} {target['limit']:g}"
            rows.append([run["benchmark"], target["name"], f"{target['ratio']:.3g}", limit, target["verdict"]])
    return table(["benchmark", "ratio", "measured", "target", ""], rows)


def speed_figures(*names: str) -> str:
    """What was measured beside the targets, by all benchmarks or by those that are named."""
    rows = []
    for run in benchmarks():
        if names and run["benchmark"].replace("_", "-") not in names:
            continue
        for name, value in run["figures"].items():
            parts = value.items() if isinstance(value, dict) else [("", value)]
            rows += [[run["benchmark"], name, part, plain(found)] for part, found in parts]
    return table(["benchmark", "figure", "of", "value"], rows)


def precision() -> str:
    """What fewer bits change in the shipped model's tau, kind by kind, as `unshuffle calibrate --fewer-bits` found."""
    file = RESULTS / "calibration" / "default.json"
    measured = json.loads(file.read_text(encoding="utf-8")).get("fewer_bits", {})
    if not measured:
        return "*Not measured for this model yet.*\n"
    kinds = next(iter(measured.values()))
    rows = [
        [kind, str(found["documents"])]
        + [f"{changes[kind]['tau']:+.2f} ± {changes[kind]['standard_error']:.2f}" for changes in measured.values()]
        for kind, found in kinds.items()
    ]
    return table(["text", "documents", *(f"{bits}: change of τ" for bits in measured)], rows)


def long() -> str:
    """Seconds, memory and tau by the number of sentences."""
    figures = figures_of("long")
    if not figures:
        return "*Not run yet.*\n"
    rows = [
        [size, str(found["documents"]), f"{found['seconds']:.2f}", f"{found['megabytes']:.0f}", f"{found['tau']:.1f}"]
        for size, found in figures.items()
    ]
    return table(["text", "documents", "CPU seconds", "peak MB", "τ"], rows)


def plain(value: Any) -> str:
    """A figure of any form, as it is read."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {plain(found)}" for name, found in value.items())
    if isinstance(value, list):
        return ", ".join(map(plain, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def serve() -> str:
    """The service under load: each model with one request at a time and with micro-batching, and what was promised."""
    file = RESULTS / "benchmarks" / "serve.json"
    if not file.is_file():
        return "*Not run yet.*\n"
    run = json.loads(file.read_text(encoding="utf-8"))
    rows = []
    for model, found in run["models"].items():
        for kind in ("one_at_a_time", "micro_batching"):
            load = found[kind]
            speeds = [plain(load[name]) for name in ("answers_a_second", "model_documents_a_second")]
            waits = "/".join(str(round(wait)) for wait in load["milliseconds"].values())
            memory = "/".join(map(str, load["megabytes"]))
            share = f"{100 * load['share_of_parser']:.0f} %"
            rows.append([model, kind.replace("_", " "), *speeds, share, waits, memory])
        gains = [f"× {found['gain_end_to_end']}", f"× {found['gain_of_the_model_part']}"]
        rows.append([model, "gain", *gains, "", "", ""])
    head = ["model", "requests", "answers/s", "model part, documents/s", "parser", "p50/p95/p99 ms", "MB by thirds"]
    return table(head, rows) + "\n" + table(["promise", ""], [list(kept) for kept in run["targets"].items()])


def bulk() -> str:
    """Runs on a Ray cluster of one machine."""
    rows = []
    for file in sorted((RESULTS / "bulk").glob("*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        rows += [[run["model"], name, "yes" if held else "NO"] for name, held in run["checks"].items()]
        figures = {
            "documents, ordered / among the errors": f"{run['ordered']:,} / {run['errors']:,}",
            "two workers in times of one": plain(run["ratio"]),
            "documents/s of one worker": plain(run["documents_per_second"]["1"]),
            "growth of a worker's memory": f"{100 * run['memory_growth']:.1f} %",
        }
        rows += [[run["model"], name, value] for name, value in figures.items()]
    return table(["model", "", ""], rows) if rows else "*Not run yet.*\n"
