"""The leak study, written to research/results/leaks.

Run: python -m unshuffle_research.leaks.study --model FOLDER --data NAME=FOLDER
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from unshuffle.errors import UnshuffleError
from unshuffle.evaluation.results import command_line, commit, versions
from unshuffle.storage.files import read_json, write_json
from unshuffle.system.folder import load_model
from unshuffle.system.orderer import Orderer
from unshuffle.training.corpus import parsed
from unshuffle_research import RESULTS
from unshuffle_research.experiments.page import write_page
from unshuffle_research.experiments.plan import Dataset, open_dataset
from unshuffle_research.experiments.plots import Curve, Panel, curves, dots
from unshuffle_research.experiments.report import write_sheet
from unshuffle_research.experiments.settings import Settings
from unshuffle_research.experiments.sheet import Plot, Sheet, Table, banded
from unshuffle_research.leaks.bands import Found, band, biased, lead, order_figures, pair_band, pair_lead, two, values
from unshuffle_research.leaks.observe import BIASES, SORTS, WEIGHTS, Observed, observe

SETTINGS = Settings(
    title="What the leaks are worth",
    place="not in the paper",
    question="How many points do gold-direction scoring and gold-numbered sorting add to the same trained model?",
    systems=("irse-grn",),
)
SCORED = {
    "initial": "initial classifier, both directions asked",
    "honest": "with iterative classifier, both directions asked",
    "leaked": "with iterative classifier, true direction asked",
}
HONEST, TOLD = "honestly", "with the leak"
ORDERED = "The same ordering model under different link weights"
LINKS = {
    "no refinement": "no refinement (every link at 0.5)",
    "honest": "honest",
    "honest, raw": "honest, unsure links stay raw",
    "leaked": "true direction asked",
    "leaked, raw": "true direction asked, unsure links stay raw (as released)",
    "truth": "the truth itself (upper limit)",
}
TITLES = {
    "true numbers": "depth-first, numbered by the true order (as released)",
    "random numbers": "depth-first, numbered at random",
    "exact (Kemeny)": "exact (Kemeny)",
    "coin flips, true numbers": "coin flips, numbered by the true order",
    "coin flips, random numbers": "coin flips, numbered at random",
}


def main() -> None:
    """Reads the arguments, looks at all documents, writes the sheet."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", type=Path, action="append", required=True, help="a trained irse-grn; repeatable")
    options.add_argument(
        "--told",
        type=Path,
        action="append",
        default=[],
        help="a model trained with the leak (unshuffle_research.leaks.train); repeatable",
    )
    options.add_argument("--data", required=True, help="NAME=FOLDER, as for the experiments")
    options.add_argument("--out", type=Path, default=RESULTS / "leaks")
    options.add_argument("--cache", type=Path, default=Path("runs/parses"))
    options.add_argument("--documents", type=int, default=0, help="at most so many test documents")
    options.add_argument("--beam", type=int, default=64)
    given = options.parse_args()
    torch.set_num_threads(1)
    try:
        study(
            given.model,
            given.data,
            given.out,
            given.cache,
            told=given.told,
            documents=given.documents,
            beam=given.beam,
        )
    except UnshuffleError as error:
        sys.exit(f"leaks: {error}")


def study(
    honest: Sequence[Path],
    data: str,
    out: Path,
    cache: Path,
    *,
    told: Sequence[Path] = (),
    documents: int = 0,
    beam: int = 64,
) -> Path:
    """One JSON a model with its figures, and the sheet of all: models trained honestly, and with the leak."""
    started = time.monotonic()
    dataset = open_dataset(data, held_out=documents)
    found: dict[str, Found] = {}
    for way, folders in {HONEST: honest, TOLD: told}.items():
        for number, folder in enumerate(folders, 1):
            rows = _observed(folder, dataset, cache, number, beam)
            found.setdefault(way, []).append(rows)
            name = SETTINGS.systems[0] + ("-told" if way == TOLD else "")
            _write(out / f"{name}-{dataset.name}-{number}.json", dataset, folder, number, beam, rows, started)
    path = write_sheet(_sheet(dataset, found), "leaks", SETTINGS, out, minutes=(time.monotonic() - started) / 60)
    write_page(out.parent)
    return path


def _observed(folder: Path, dataset: Dataset, cache: Path, seed: int, beam: int) -> list[Observed]:
    orderer = Orderer(load_model(str(folder)))
    return list(observe(orderer, parsed(dataset.splits.test, orderer.model.config.parser, cache), seed=seed, beam=beam))


def _write(
    path: Path, dataset: Dataset, folder: Path, seed: int, beam: int, rows: list[Observed], started: float
) -> None:
    trail = folder / "trail.json"
    write_json(
        path,
        {
            "system": SETTINGS.systems[0],
            "model": folder.name,
            "stages": read_json(trail) if trail.is_file() else [],
            "dataset": dataset.name,
            "seed": seed,
            "command": command_line(),
            "commit": commit(),
            "versions": versions(),
            "minutes": round((time.monotonic() - started) / 60, 2),
            "beam": beam,
            "pairs": {name: asdict(pair_band([rows], name)) for name in SCORED},
            "bias": {
                name: {f"{bias:g}": biased([rows], name, place).value for place, bias in enumerate(BIASES)}
                for name in ("honest", "leaked")
            },
            "orders": {name: order_figures([rows], "orders", name) for name in WEIGHTS},
            "sorts": {name: order_figures([rows], "sorts", name) for name in SORTS},
        },
    )


def _sheet(dataset: Dataset, found: dict[str, Found]) -> Sheet:
    first = found[HONEST]
    tables = [
        table(f"{caption}; trained {way}", models)
        for table, caption in ((_pair_table, "Pair accuracy that the same classifiers report"), (_order_table, ORDERED))
        for way, models in found.items()
    ]
    sort = Table(
        "Sorting the initial classifier's decisions on all pairs",
        ("sort", "τ", "PMR"),
        tuple((TITLES[name], *two(first, "sorts", name)) for name in SORTS),
    )
    places = list(BIASES)
    bias = curves(
        [
            Curve(label, places, [biased(first, name, place) for place in range(len(places))])
            for name, label in (("leaked", "true direction asked"), ("honest", "both directions asked"))
        ],
        x="added to every logit of the iterative classifier: a tendency to say yes",
        y="reported pair accuracy, %",
    )
    worth = dots(
        [LINKS[name] for name in WEIGHTS],
        [_panel(f"τ, trained {way}", models, "orders", WEIGHTS) for way, models in found.items()],
    )
    sorts = dots([TITLES[name] for name in SORTS], [_panel("τ", first, "sorts", SORTS)])
    counted = ", ".join(f"{len(models)} trained {way}" for way, models in found.items())
    return Sheet(
        dataset=dataset.name,
        subtitle=f"{dataset.described}; IRSE-GRN, {counted}",
        tables=(*tables, sort),
        plots=(
            Plot("bias", "Accuracy that a tendency to say yes reports, with no new information at all.", bias),
            Plot("worth", "τ of a trained model under honest and leaked link weights.", worth),
            Plot("sorts", "τ of pair decisions under honest and leaked sorts.", sorts),
        ),
        figures={
            way: {
                "pairs": {name: pair_band(models, name).value for name in SCORED},
                "orders": {name: order_figures(models, "orders", name) for name in WEIGHTS},
                "sorts": {name: order_figures(models, "sorts", name) for name in SORTS},
            }
            for way, models in found.items()
        },
    )


def _pair_table(caption: str, models: Found) -> Table:
    return Table(
        caption,
        ("scored", "linked test pairs put right, %", "against honest"),
        tuple((title, banded(pair_band(models, name)), pair_lead(models, name)) for name, title in SCORED.items()),
    )


def _order_table(caption: str, models: Found) -> Table:
    return Table(
        caption,
        ("link weights", "τ", "PMR", "Δτ to honest"),
        tuple((LINKS[name], *two(models, "orders", name), lead(models, name)) for name in WEIGHTS),
    )


def _panel(title: str, models: Found, part: str, kinds: Sequence[str]) -> Panel:
    return Panel(title, [band(values(models, part, name)) for name in kinds], [None] * len(kinds))


if __name__ == "__main__":
    main()
