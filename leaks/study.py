"""The leak study: `python -m leaks.study --model FOLDER --data NAME=FOLDER` writes results/leaks."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from leaks.bands import band, biased, lead, order_figures, pair_band, pair_lead, two, values
from leaks.observe import BIASES, SORTS, WEIGHTS, Observed, observe
from unshuffle.errors import UnshuffleError
from unshuffle.experiments.plan import Dataset, open_dataset
from unshuffle.experiments.plots import Curve, Panel, curves, dots
from unshuffle.experiments.report import write_sheet
from unshuffle.experiments.settings import Settings
from unshuffle.experiments.sheet import Plot, Sheet, Table, banded
from unshuffle.files import write_json
from unshuffle.system.folder import load_model
from unshuffle.system.orderer import Orderer
from unshuffle.training.corpus import parsed
from unshuffle.training.results import command_line, commit, versions

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
    options.add_argument(
        "--model", type=Path, action="append", required=True, help="a trained irse-grn; may be said again"
    )
    options.add_argument("--data", required=True, help="NAME=FOLDER, as for the experiments")
    options.add_argument("--out", type=Path, default=Path("results/leaks"))
    options.add_argument("--cache", type=Path, default=Path("runs/parses"))
    options.add_argument("--documents", type=int, default=0, help="at most so many test documents")
    options.add_argument("--beam", type=int, default=64)
    given = options.parse_args()
    torch.set_num_threads(1)
    try:
        study(given.model, given.data, given.out, given.cache, documents=given.documents, beam=given.beam)
    except UnshuffleError as error:
        sys.exit(f"leaks: {error}")


def study(folders: Sequence[Path], data: str, out: Path, cache: Path, *, documents: int = 0, beam: int = 64) -> Path:
    """One JSON a model with its figures, and the sheet of all."""
    started = time.monotonic()
    dataset = open_dataset(data, held_out=documents)
    found: list[list[Observed]] = []
    for number, folder in enumerate(folders, 1):
        orderer = Orderer(load_model(str(folder)))
        test = parsed(dataset.splits.test, orderer.model.config.parser, cache)
        rows = list(observe(orderer, test, seed=number, beam=beam))
        found.append(rows)
        write_json(
            out / f"{orderer.name}-{dataset.name}-{number}.json",
            {
                "system": orderer.name,
                "model": folder.name,
                "dataset": dataset.name,
                "seed": number,
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
    return write_sheet(_sheet(dataset, found), "leaks", SETTINGS, out, minutes=(time.monotonic() - started) / 60)


def _sheet(dataset: Dataset, found: list[list[Observed]]) -> Sheet:
    pairs = {name: pair_band(found, name) for name in SCORED}
    scored = Table(
        "Pair accuracy that the same classifiers report",
        ("scored", "linked test pairs put right, %", "against honest"),
        tuple((title, banded(pairs[name]), pair_lead(found, name)) for name, title in SCORED.items()),
    )
    sort = Table(
        "Sorting the initial classifier's decisions on all pairs",
        ("sort", "τ", "PMR"),
        tuple((TITLES[name], *two(found, "sorts", name)) for name in SORTS),
    )
    ordered = Table(
        "The same ordering model under different link weights",
        ("link weights", "τ", "PMR", "Δτ to honest"),
        tuple((LINKS[name], *two(found, "orders", name), lead(found, name)) for name in WEIGHTS),
    )
    places = list(BIASES)
    bias = curves(
        [
            Curve(label, places, [biased(found, name, place) for place in range(len(places))])
            for name, label in (("leaked", "true direction asked"), ("honest", "both directions asked"))
        ],
        x="added to every logit of the iterative classifier: a tendency to say yes",
        y="reported pair accuracy, %",
    )
    worth, sorts = (  # apart, for they lie far apart
        dots(
            [titles[name] for name in kinds],
            [Panel("τ", [band(values(found, part, name)) for name in kinds], [None] * len(kinds))],
            ours="one trained model",
        )
        for part, kinds, titles in (("orders", WEIGHTS, LINKS), ("sorts", SORTS, TITLES))
    )
    return Sheet(
        dataset=dataset.name,
        subtitle=f"{dataset.described}; {len(found)} trained model{'s' if len(found) > 1 else ''}",
        tables=(scored, ordered, sort),
        plots=(
            Plot("bias", "Accuracy that a tendency to say yes reports, with no new information at all.", bias),
            Plot("worth", "τ of one trained model under honest and leaked link weights.", worth),
            Plot("sorts", "τ of its pair decisions under honest and leaked sorts.", sorts),
        ),
        figures={
            "pairs": {name: band.value for name, band in pairs.items()},
            "orders": {name: order_figures(found, "orders", name) for name in WEIGHTS},
            "sorts": {name: order_figures(found, "sorts", name) for name in SORTS},
        },
    )


if __name__ == "__main__":
    main()
