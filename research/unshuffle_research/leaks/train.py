"""IRSE-GRN trained with the leak in it, by two recipes; every checkpoint is scored honestly and as the leak scores it.

Run: python -m unshuffle_research.leaks.train --data NAME=FOLDER --out FOLDER --recipe released --seeds 5

As in the released program, the checkpoint of the iterative classifier is the one that scores best when it is asked in
the true direction only, and what it answers then is what the ordering model learns from. `paper` trains the classifiers
as the paper writes it. `released` does so as the released program does: messages are a plain weighted sum, 2.6 to 5.3 %
of the pairs are hidden and none is wrong, sure pairs weigh 0.99 or 0.01, and there is no cross-fitting.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from unittest.mock import patch

import torch
from torch import Tensor

from unshuffle.cli.terminal import StageBars
from unshuffle.decode.contracts import Gold
from unshuffle.errors import UnshuffleError
from unshuffle.graph.batch import collate
from unshuffle.graph.prepare import Item
from unshuffle.refine.classifier import Corrupted
from unshuffle.refine.iterative import Refiner
from unshuffle.storage.files import write_text
from unshuffle.training import classifiers, stages
from unshuffle.training.classifiers import IterativeStage, pair_truth, weighted_by
from unshuffle.training.loop import Drawn, Progress
from unshuffle.training.run import TrainingJob, train_system
from unshuffle_research import RESULTS
from unshuffle_research.experiments.plan import Plan, open_dataset
from unshuffle_research.leaks.direction import Case, Refined, refined
from unshuffle_research.leaks.trained import Trained, measure

Recipe = Literal["paper", "released"]
SYSTEM, SYSTEMS = "irse-grn", ("irse-grn", "irse-grn-fh")
RELEASED = (
    "refiner.grn.link_message=weighted",
    "refiner.settled=snap",
    "refiner.leftover=raw",
    "refiner.known_weight=0.99",
    "training.folds=1",
    "training.classifier_epochs=20",
    "training.classifier_patience=20",
)
"""Its patience is as long as its limit, so that there are as many checkpoints to choose from for every seed."""
HIDDEN_FROM, HIDDEN_TO = 0.9, 0.8
"""The threshold of the square of a uniform draw falls from one to the other within an epoch; here it is drawn between
them at each step, which hides the same share in all."""


def main() -> None:
    """Reads the arguments, trains what is missing, and writes what came of it."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", required=True, help="NAME=FOLDER, as for the experiments")
    options.add_argument("--out", type=Path, required=True, help="folder of the models; the same call goes on with it")
    options.add_argument("--runs", type=Path, default=Path("runs"), help="folder of parses, shared with experiments")
    options.add_argument("--results", type=Path, default=RESULTS / "leaks-trained")
    options.add_argument("--recipe", choices=("paper", "released"), default="released")
    options.add_argument("--systems", default=",".join(SYSTEMS), help="ordering models to train, with commas")
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--first-seed", type=int, default=1)
    options.add_argument("--beam", type=int, default=64)
    options.add_argument("--set", action="append", default=[], dest="changes", help="table.option=value")
    given = options.parse_args()
    torch.set_num_threads(1)
    trained = []
    try:
        with StageBars() as bars:
            for seed in range(given.first_seed, given.first_seed + given.seeds):
                for system in given.systems.split(","):
                    job = Told(system, seed, given.recipe, tuple(given.changes))
                    folder = given.out / job.name
                    train_told(given.data, folder, given.runs, job=job, report=bars)
                    trained.append(Trained(system, seed, given.recipe, folder))
        measure(trained, given.data, given.results, given.runs / "parses", beam=given.beam)
    except UnshuffleError as error:
        sys.exit(f"leaks: {error}")


@dataclass(frozen=True)
class Told:
    """One training with the leak in it."""

    system: str = SYSTEM
    seed: int = 1
    recipe: Recipe = "paper"
    changes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"{self.recipe}-{self.system}-{self.seed}"


def train_told(
    data: str,
    out: Path,
    runs: Path,
    *,
    job: Told,
    report: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Trains a row with the leak; classifiers lie beside the model, so that rows of one recipe and seed share them."""
    dataset = open_dataset(data)
    changes = (*(RELEASED if job.recipe == "released" else ()), *job.changes)
    plan = Plan(job.system, job.system, dataset, job.seed, changes)
    if (out / "config.json").is_file():
        return
    training = TrainingJob(
        name=job.system,
        config=plan.config,
        training=plan.training,
        data=dataset.splits,
        out=out,
        seed=job.seed,
        resume=True,
        stages=out.parent / f"stages-{job.recipe}",
        cache=runs / "parses",
    )
    with told(job.recipe, out.parent / f"checkpoints-{job.recipe}-{job.seed}.jsonl"):
        train_system(training, report)


@contextmanager
def told(recipe: Recipe, checkpoints: Path) -> Iterator[None]:
    """The package has no way to give the truth away, so some of its functions are others in here."""

    def score(stage: IterativeStage) -> float:
        found = told_score(stage)
        kept = checkpoints.read_text(encoding="utf-8") if checkpoints.is_file() else ""
        write_text(checkpoints, kept + json.dumps({"stage": stage.name, **found}) + "\n")
        return found["told"]

    with ExitStack() as stack:
        stack.enter_context(patch.object(IterativeStage, "score", score))
        stack.enter_context(patch.object(stages, "with_weights", told_weights))
        if recipe == "released":
            stack.enter_context(patch.object(classifiers, "training_weights", released_weights))
        yield


def told_score(stage: IterativeStage) -> dict[str, float]:
    """Validation pairs put right as the leak counts, honestly, and the mean logit of yes over both directions."""
    right = {"told": 0.0, "honest": 0.0}
    pairs = yes = 0.0
    for drawn in stage._valid:
        case = _case(stage._refiner, drawn)
        for name in right:
            predicted = refined(case, told=name == "told").predicted
            right[name] += float((predicted > 0.5).sum() + 0.5 * (predicted == 0.5).sum())
        unsure = case.unsure(case.start)
        weights = torch.where(unsure, 0.5, case.start)
        yes += float(case.logits(torch.where(case.truth, weights, 1 - weights)).mean(0).sum())
        pairs += len(case.truth)
    found = {name: round(100 * count / max(pairs, 1), 4) for name, count in right.items()}
    return found | {"yes": round(yes / max(pairs, 1), 4)}


def released_weights(
    refiner: Refiner, drawn: Drawn, truth: Tensor, noise_share: float, predicted: Callable[[], Tensor]
) -> tuple[Corrupted, int]:
    """True weights, a few of them hidden: only pairs whose truly first sentence stands later in the shuffled input."""
    generator = torch.Generator().manual_seed(drawn.seed)
    first, second = torch.cat([torch.as_tensor(item.graph.pairs) for item in drawn.items], 1)
    threshold = HIDDEN_TO + (HIDDEN_FROM - HIDDEN_TO) * float(torch.rand((), generator=generator))
    late = torch.where(truth > 0.5, first > second, second > first)
    hidden = late & (torch.rand(len(truth), generator=generator) ** 2 >= threshold)
    known = refiner.config.known_weight
    weights = torch.where(hidden, 0.5, torch.where(truth > 0.5, known, 1 - known))
    return Corrupted(weights, hidden), int(hidden.sum())


def told_weights(refiner: Refiner, items: Sequence[Item], seed: int) -> list[Item]:
    """Documents with the link weights that the released program would write for them: unsure ones stay raw."""

    def weights_of(drawn: Drawn) -> Tensor:
        return _told(refiner, drawn).raw

    return weighted_by(weights_of, items, seed)


def _told(refiner: Refiner, drawn: Drawn) -> Refined:
    return refined(_case(refiner, drawn), told=True)


def _case(refiner: Refiner, drawn: Drawn) -> Case:
    refiner.eval()
    batch = collate(drawn.items)
    truth = pair_truth(batch, Gold.of([list(order) for order in drawn.orders])) > 0.5
    return Case.of(refiner, batch, None, truth)


if __name__ == "__main__":
    main()
