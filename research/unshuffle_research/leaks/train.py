"""IRSE-GRN trained with the leak in it: `python -m unshuffle_research.leaks.train --data NAME=FOLDER --out FOLDER`.

As in the released program, the checkpoint of the iterative classifier is the one that scores best when it is asked in
the true direction only, and what it answers then is what the ordering model learns from.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import torch
from torch import Tensor

from unshuffle.cli.terminal import StageBars
from unshuffle.decode.contracts import Gold
from unshuffle.errors import UnshuffleError
from unshuffle.graph.batch import collate
from unshuffle.graph.prepare import Item
from unshuffle.refine.iterative import Refiner
from unshuffle.training import stages
from unshuffle.training.classifiers import IterativeStage, pair_truth, weighted_by
from unshuffle.training.loop import Drawn, Progress
from unshuffle.training.run import TrainingJob, train_system
from unshuffle_research.experiments.plan import Plan, open_dataset
from unshuffle_research.leaks.direction import Case, Refined, refined

SYSTEM = "irse-grn"


def main() -> None:
    """Reads the arguments and trains."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", required=True, help="NAME=FOLDER, as for the experiments")
    options.add_argument("--out", type=Path, required=True, help="folder of the model; the same call goes on with it")
    options.add_argument("--runs", type=Path, default=Path("runs"), help="where initial classifiers may lie already")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--set", action="append", default=[], dest="changes", help="table.option=value")
    given = options.parse_args()
    torch.set_num_threads(1)
    try:
        with StageBars() as bars:
            train_told(given.data, given.out, given.runs, seed=given.seed, changes=given.changes, report=bars)
    except UnshuffleError as error:
        sys.exit(f"leaks: {error}")


def train_told(
    data: str,
    out: Path,
    runs: Path,
    *,
    seed: int = 1,
    changes: Sequence[str] = (),
    report: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Trains the row with the leak; initial classifiers are asked fairly, and taken over from honest trainings."""
    dataset = open_dataset(data)
    plan = Plan(SYSTEM, SYSTEM, dataset, seed, tuple(changes))
    own = out / "stages"
    for honest in (runs / "stages" / dataset.name).glob("initial-*"):
        if not (own / honest.name).exists():
            shutil.copytree(honest, own / honest.name)
    job = TrainingJob(
        name=SYSTEM,
        config=plan.config,
        training=plan.training,
        data=dataset.splits,
        out=out,
        seed=seed,
        resume=True,
        stages=own,
        cache=runs / "parses",
    )
    with told():
        train_system(job, report)


@contextmanager
def told() -> Iterator[None]:
    """The package has no way to give the truth away, so two of its functions are others in here."""
    with patch.object(IterativeStage, "score", told_score), patch.object(stages, "with_weights", told_weights):
        yield


def told_score(stage: IterativeStage) -> float:
    """Share of linked validation pairs that the iterative classifier is said to put right."""
    right = pairs = 0.0
    for drawn in stage._valid:
        predicted = _told(stage._refiner, drawn).predicted
        right += float((predicted > 0.5).sum() + 0.5 * (predicted == 0.5).sum())
        pairs += len(predicted)
    return 100 * right / max(pairs, 1)


def told_weights(refiner: Refiner, items: Sequence[Item], seed: int) -> list[Item]:
    """Documents with the link weights that the released program would write for them: unsure ones stay raw."""

    def weights_of(drawn: Drawn) -> Tensor:
        return _told(refiner, drawn).raw

    return weighted_by(weights_of, items, seed)


def _told(refiner: Refiner, drawn: Drawn) -> Refined:
    refiner.eval()
    batch = collate(drawn.items)
    truth = pair_truth(batch, Gold.of([list(order) for order in drawn.orders])) > 0.5
    return refined(Case.of(refiner, batch, None, truth), told=True)


if __name__ == "__main__":
    main()
