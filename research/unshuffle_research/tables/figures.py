"""Fill the tables of README and docs from research/results; `--check` fails where a table differs from its JSON."""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

from unshuffle.system.rows import load_row, system_names
from unshuffle_research import CONFIGS, RESULTS, ROOT
from unshuffle_research.experiments.datasets.preset import load_preset, preset_names
from unshuffle_research.experiments.report import read_sheets, tables_of
from unshuffle_research.experiments.settings import experiment_names
from unshuffle_research.experiments.sheet import spread
from unshuffle_research.tables.compared import (
    calibration_errors,
    everyday_splits,
    helps,
    lead,
    level_with_best,
    other_sets,
    simple_ways,
    sources,
    thresholds,
    uses,
)
from unshuffle_research.tables.judged import judged, judged_curve, judged_seeds
from unshuffle_research.tables.measured import bulk, long, precision, serve, speed, speed_figures, table
from unshuffle_research.tables.shipped import candidates, fine_tuned, growth, shipped, shipped_short

PUBLISHED = CONFIGS / "experiments" / "published.toml"
MODELS = ROOT / "src" / "unshuffle" / "data" / "models"
BLOCK = re.compile(r"(<!-- figures: ([a-z-]+)((?: [a-z-]+)*) -->\n).*?(<!-- end figures -->)", re.DOTALL)
"""A table's name, and the rows or data sets that it is cut to; all where none is named."""


def results(folder: str) -> dict[str, list[dict[str, Any]]]:
    """All runs below research/results/<folder>, by system."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for file in sorted((RESULTS / folder).glob("*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        if "system" in run:  # sheets of several runs lie beside them
            found[run["system"]].append(run)
    return found


def number(value: float) -> str:
    """A published figure, or a dash where none was printed."""
    return "–" if math.isnan(value) else f"{value:.2f}"


def nips_runs() -> dict[str, list[dict[str, Any]]]:
    """Each trained system on the paper's own NIPS data."""
    found = {}
    for system, runs in results("main").items():
        if whole := [run for run in runs if run["dataset"] == "nips" and run["comparable"]]:
            found[system] = whole
    return found


def printed() -> dict[str, list[float]]:
    """What the paper prints for NIPS: Acc, tau and PMR by system."""
    published: dict[str, list[float]] = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))["nips"]
    return published


def spreads(runs: list[dict[str, Any]]) -> list[str]:
    """Acc, tau and PMR of a system over its seeds."""
    return [spread([run["test"][name] for run in runs]) for name in ("acc_micro", "tau", "pmr")]


def nips() -> str:
    """All that is known of each system's trainings on NIPS, beside what the paper prints."""
    published, rows, found = printed(), [], nips_runs()
    level = level_with_best(found)
    for system, runs in sorted(found.items()):
        accuracy, reached, perfect = spreads(runs)
        epochs = statistics.mean(next(stage["epochs"] for stage in reversed(run["stages"])) for run in runs)
        rows.append(
            [
                f"`{system}`",
                " / ".join(map(number, published.get(system, [math.nan] * 3))),
                accuracy,
                reached + "°" * (system in level),
                perfect,
                str(len(runs)),
                f"{epochs:.0f}" + ("\\*" if any(run["cut_by_time"] for run in runs) else ""),
                f"{statistics.mean([run['minutes'] for run in runs]):.0f}",
                f"{runs[0]['parameters'] / 1e6:.1f} M",
                f"{statistics.mean([run['test']['changed'] for run in runs]):.1f}",
            ]
        )
    head = ["system", "paper: Acc / τ / PMR", "Acc (micro)", "τ", "PMR", "seeds", "epochs", "minutes", "parameters"]
    return table([*head, "changed"], rows)


def systems(*names: str) -> str:
    """Rows, all or those that are named, and what they reach on NIPS; a star where a time limit ended a training."""
    published, trained, rows = printed(), nips_runs(), []
    for name in names or system_names():
        row = load_row(name)
        _, paper, _ = published.get(name, [math.nan] * 3)
        ours = "–"
        if name in trained:
            ours = spreads(trained[name])[1] + "\\*" * any(run["cut_by_time"] for run in trained[name])
        rows.append([f"`{name}`", row.about.title, row.about.paper, number(paper), ours])
    return table(["name", "system", "paper", "τ, paper", "τ, here"], rows)


def parser() -> str:
    """The shipped parser on UD EWT test."""
    file = RESULTS / "parser" / "ewt-test.json"
    if not file.exists():
        return table(["measure", "value"], [])
    run = json.loads(file.read_text(encoding="utf-8"))
    rows = [[key.replace("_", " "), str(value)] for key, value in run.items() if isinstance(value, float)]
    return table(["measure", "value"], rows)


def datasets() -> str:
    """The data sets that there are presets for."""
    rows = []
    for name in preset_names():
        preset = load_preset(name)
        chosen = preset.settings
        sizes = "; ".join(
            f"{' / '.join(f'{size:,}' for size in form.sizes)} ({form.format}, {form.name})"
            for form in preset.forms
            if form.sizes
        )
        batch = f"{chosen.batch} / {chosen.pretrained_batch}"
        rows.append(
            [f"`{name}`", sizes, f"{chosen.noise_share:.0%}", f"{chosen.pair_loss_weight:g}", batch, preset.ask]
        )
    return table(["name", "train / valid / test", "η", "λ", "batch, without / with BERT", "where to ask"], rows)


def sheets(name: str, *datasets: str) -> str:
    """All that an experiment has found, table by table; on all data sets, or on those that are named."""
    found = []
    for sheet in read_sheets(RESULTS / name):
        if datasets and sheet["dataset"] not in datasets:
            continue
        found += [f"{sheet['subtitle']}.", ""]
        for one in tables_of(sheet):
            found += [f"*{one.caption}*", "", one.markdown()]
            found += [one.note, ""] if one.note else []
        found += [f"![{plot['caption']}](../research/results/{name}/{plot['file']}.svg)\n" for plot in sheet["plots"]]
        found += [f"- {note}" for note in sheet["notes"]] + [""] * bool(sheet["notes"])
    return "\n".join(found) or "*Not run yet.*\n"


TABLES: dict[str, Callable[..., str]] = {
    "serve": serve,
    "bulk": bulk,
    "speed": speed,
    "precision": precision,
    "long": long,
    "speed-figures": speed_figures,
    "nips": nips,
    "systems": systems,
    "shipped": shipped,
    "shipped-short": shipped_short,
    "candidates": candidates,
    "growth": growth,
    "fine-tuned": fine_tuned,
    "parser": parser,
    "lead": lead,
    "helps": helps,
    "other-sets": other_sets,
    "simple-ways": simple_ways,
    "thresholds": thresholds,
    "uses": uses,
    "calibration-errors": calibration_errors,
    "sources": sources,
    "everyday": everyday_splits,
    "datasets": datasets,
    "judged": judged,
    "judged-seeds": judged_seeds,
    "judged-curve": judged_curve,
    "leaks": partial(sheets, "leaks"),
    "leaks-trained": partial(sheets, "leaks-trained"),
    **{f"experiment-{name}": partial(sheets, name) for name in experiment_names()},
}


def filled(text: str) -> str:
    """The text with every table filled again."""
    return BLOCK.sub(lambda match: match[1] + TABLES[match[2]](*match[3].split()) + match[4], text)


def main() -> None:
    """Fills or checks all pages."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true")
    check = options.parse_args().check
    wrong = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(MODELS.glob("*/README.md"))]:
        text = page.read_text(encoding="utf-8")
        new = filled(text)
        if new != text:
            wrong.append(page.name)
            if not check:
                page.write_text(new, encoding="utf-8")
    if check and wrong:
        sys.exit(
            f"{', '.join(wrong)}: tables differ from research/results. Run: python -m unshuffle_research.tables.figures"
        )


if __name__ == "__main__":
    main()
