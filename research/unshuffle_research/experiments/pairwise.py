"""Table 2: pair accuracy of the initial classifier and of both, measured the same way; calibration; rounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from unshuffle.metrics.bootstrap import paired_bootstrap
from unshuffle.metrics.pairs import brier, calibration
from unshuffle.seeds import derived
from unshuffle.storage.files import write_json
from unshuffle_research.experiments.bench import Bench, cut_mark, cut_note, run_of
from unshuffle_research.experiments.kept import PAIRS
from unshuffle_research.experiments.main import paper_column
from unshuffle_research.experiments.measure import about
from unshuffle_research.experiments.models import Trained
from unshuffle_research.experiments.pairs import (
    PairRow,
    decided_by_round,
    joined,
    ordered_rows,
    pair_accuracy,
    pair_rows,
    pair_sizes,
    share_right,
    write_pairs,
)
from unshuffle_research.experiments.plan import Dataset
from unshuffle_research.experiments.plots import reliability
from unshuffle_research.experiments.published import printed
from unshuffle_research.experiments.sheet import Plot, Sheet, Table, banded, spread

STAGES = {"initial": "initial classifier", "final": "initial + iterative"}


def pairwise(bench: Bench) -> Iterator[Sheet]:
    """One sheet a data set."""
    for dataset in bench.datasets:
        found, orders = [], defaultdict(list)
        for trained in bench.trained(bench.plans(dataset)):
            orders[trained.plan.label].append(ordered_rows(bench.models, bench.measure(trained)))
            if trained.plan.config.refiner is None:
                continue
            rows = pair_rows(bench.models, trained, resume=bench.resume)
            if rows and rows[0].initial is not None:
                found.append((trained, rows))
                _write(bench, trained, rows)
        if found:
            yield _sheet(dataset, found, orders)


def _write(bench: Bench, trained: Trained, rows: Sequence[PairRow]) -> None:
    plan = trained.plan
    path = bench.out / f"{plan.row}-{plan.dataset.name}-{plan.seed}.json"
    write_pairs(path.with_suffix(PAIRS), rows)
    write_json(path, about(trained) | {"pairs": _figures(rows)})
    bench.written.append(path)


def _figures(rows: Sequence[PairRow]) -> dict[str, object]:
    truth = joined(rows, "truth")
    found: dict[str, object] = {
        "pairs": len(truth),
        "documents": len(rows),
        "decided_by_round": [round(value, 2) for value in decided_by_round(rows)],
    }
    for which in STAGES:
        given = joined(rows, which)
        found[which] = {
            "accuracy": asdict(pair_accuracy([rows], which)),
            "calibration_error": calibration(given, truth).error,
            "brier": brier(given, truth),
        }
    return found


def _gain(seeds: Sequence[Sequence[PairRow]]) -> str:
    final, initial = (share_right(seeds, which) for which in ("final", "initial"))
    generator = np.random.default_rng(derived(1, "gain"))
    found = paired_bootstrap(final, initial, generator, weights=pair_sizes(seeds[0]))
    return f"{found.difference:+.2f} [{found.lower:+.2f}, {found.upper:+.2f}]"


def _whole(orders: Mapping[str, list[list[PairRow]]]) -> Table:
    cells = []
    for label, seeds in orders.items():
        each = [pair_accuracy([rows], "final").value for rows in seeds]
        cells.append((label, spread(each), banded(pair_accuracy(seeds, "final"))))
    head = ("order by", "accuracy", "95 % of documents")
    return Table("The same pairs as whole orders have them", head, tuple(cells))


def _sheet(
    dataset: Dataset, found: list[tuple[Trained, list[PairRow]]], orders: Mapping[str, list[list[PairRow]]]
) -> Sheet:
    paper = printed("pairwise", dataset.preset.published)
    seeds = [rows for _, rows in found]
    every = [row for rows in seeds for row in rows]
    truth = joined(every, "truth")
    cells, mark = [], cut_mark(trained for trained, _ in found)
    for column, (which, title) in enumerate(STAGES.items()):
        given = joined(every, which)
        cells.append(
            (
                title + mark,
                f"{paper[column]:.2f}" if paper else "–",
                spread([pair_accuracy([rows], which).value for rows in seeds]),
                banded(pair_accuracy(seeds, which)),
                f"{calibration(given, truth).error:.4f}",
                f"{brier(given, truth):.4f}",
            )
        )
    head = ("classifier", paper_column(dataset, "accuracy"), "accuracy", "95 % of documents", "ECE", "Brier")
    steps = decided_by_round(every)
    settled = Table(
        "Linked pairs settled, mean over documents",
        ("after", *("initial" if not step else f"round {step}" for step in range(len(steps)))),
        (("share, %", *(f"{value:.1f}" for value in steps)),),
    )
    figure = reliability(
        {title: calibration(joined(every, which), truth) for which, title in STAGES.items()},
        {f"seed {trained.plan.seed}": decided_by_round(rows) for trained, rows in found},
    )
    return Sheet(
        dataset=dataset.name,
        subtitle=dataset.described,
        tables=(
            Table(
                f"Linked test pairs, {len(truth):,} decisions",
                head,
                tuple(cells),
                cut_note(trained for trained, _ in found),
            ),
            _whole(orders),
            settled,
        ),
        plots=(Plot("pairs", "Left: calibration on linked test pairs. Right: share settled by round.", figure),),
        notes=(
            f"Gain from the iterative classifier: {_gain(seeds)} points (paired bootstrap over documents).",
            "Both rows are measured alike: one decision a linked pair, both directions scored and normalised, oriented "
            "by the shuffled input, a tie half right. In the paper the second was asked only in the true direction.",
        ),
        figures={str(trained.plan.seed): _figures(rows) for trained, rows in found},
        runs=tuple(run_of(trained) for trained, _ in found),
    )
