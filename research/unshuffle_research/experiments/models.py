"""Trained models by plan: taken from where they lie, gone on with, or trained, within the time there is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from unshuffle.evaluation.results import command_line, commit
from unshuffle.graph.prepare import Preparer
from unshuffle.storage.files import read_json, write_json
from unshuffle.system.folder import load_model
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.training.config import classifier_kinds, with_time_limit
from unshuffle.training.corpus import parsed
from unshuffle.training.loop import Progress
from unshuffle.training.run import TrainingJob, new_model, train_system
from unshuffle_research.experiments.clock import Clock
from unshuffle_research.experiments.kept import Kept, Results
from unshuffle_research.experiments.plan import Dataset, Plan

MADE = "made.json"


@dataclass(frozen=True)
class Trained:
    """A model and how it came about; of some only what an earlier call wrote of it is left."""

    plan: Plan
    folder: Path
    trail: tuple[dict[str, Any], ...]
    made: dict[str, str]
    """Command and commit of the training, which may be older than those of what is measured now."""
    kept: Kept | None = None
    """Its results, where the model itself is gone."""

    @cached_property
    def orderer(self) -> Orderer:
        """The model itself."""
        return Orderer(load_model(str(self.folder)))

    @property
    def minutes(self) -> float:
        """Training time of all its stages, also of those that it shares with others."""
        return sum(float(stage["minutes"]) for stage in self.trail)

    @property
    def cut(self) -> bool:
        """Whether a time limit ended any stage."""
        return any(stage["cut"] for stage in self.trail)

    @property
    def parameters(self) -> int:
        """All of them, both classifiers included."""
        if self.kept:
            return int(self.kept.said["parameters"])
        return sum(parameter.numel() for parameter in self.orderer.model.network.parameters())


@dataclass
class Models:
    """A folder of models, stages and parses that all experiments share."""

    folder: Path
    clock: Clock = field(default_factory=Clock)
    progress: Callable[[Progress], None] = lambda progress: None
    say: Callable[[str], None] = lambda line: None
    training: bool = True
    """Whether what is missing is trained."""
    results: Results | None = None
    """Results of earlier calls, for models that are gone."""
    missing: list[Plan] = field(default_factory=list)
    """Plans that were left out: there was no time, or nothing was to be trained."""
    waiting: dict[str, Plan] = field(default_factory=dict)
    """What is still to be trained, by key; the time that is left is for all of it."""
    _classified: set[str] = field(default_factory=set)

    def expect(self, plans: Iterable[Plan]) -> None:
        """Tells of plans to come, so that the first ones leave them their share of the time."""
        self.waiting |= {plan.key: plan for plan in plans if not self._done(plan)}

    def take(self, plans: Sequence[Plan], *, results: bool = False) -> Iterator[Trained]:
        """One model a plan, in order; once the time is over only those that lie there already.

        With `results`, what an earlier call wrote of a model will do in its place.
        """
        self.expect(plans)
        for number, plan in enumerate(plans, 1):
            if self._done(plan):
                yield self._load(plan)
            elif results and self.results and (kept := self.results.find(plan)):
                yield Trained(plan, kept.path.parent, tuple(kept.said["stages"]), kept.said["trained"], kept)
            elif not self.training or self.clock.over:
                self.missing.append(plan)
                why = "no time left; the same command goes on with it" if self.training else "not trained yet"
                self.say(f"{plan.key}: {why}.")
            else:
                self.say(f"{plan.key}: training {number} of {len(plans)}")
                yield self._train(plan, self.clock.share(self._trainings_left()))
                self._classified |= _classifiers(plan)
            self.waiting.pop(plan.key, None)

    def _trainings_left(self) -> int:
        """One for each ordering model that is waiting, and one for each kind of classifier that it needs."""
        classifiers = {each for plan in self.waiting.values() for each in _classifiers(plan)}
        return len(self.waiting) + len(classifiers - self._classified)

    def parsed(self, dataset: Dataset, split: str, parser: str) -> tuple[Document, ...]:
        """The documents of a split with their mentions."""
        return parsed(getattr(dataset.splits, split), parser, self.folder / "parses")

    def preparer(self, trained: Trained) -> Preparer:
        """What makes graphs for a model: its own, or where it is gone one from the same documents."""
        if not trained.kept:
            return trained.orderer.model.preparer
        plan = trained.plan
        documents = self.parsed(plan.dataset, "train", plan.config.parser)
        return new_model(plan.system, plan.config, documents, plan.seed).preparer

    def _place(self, plan: Plan) -> Path:
        return self.folder / "models" / plan.key

    def _done(self, plan: Plan) -> bool:
        return (self._place(plan) / "config.json").is_file()

    def _load(self, plan: Plan) -> Trained:
        folder = self._place(plan)
        made = read_json(folder / MADE) if (folder / MADE).is_file() else {}
        return Trained(plan, folder, tuple(read_json(folder / "trail.json")), made)

    def _train(self, plan: Plan, minutes: float) -> Trained:
        job = TrainingJob(
            name=plan.system,
            config=plan.config,
            training=with_time_limit(plan.training, plan.config, minutes),
            data=plan.dataset.splits,
            out=self._place(plan),
            seed=plan.seed,
            resume=True,
            stages=self.folder / "stages" / plan.dataset.name,
            cache=self.folder / "parses",
            precision=plan.precision,
        )
        train_system(job, self.progress)
        write_json(job.out / MADE, {"command": command_line(), "commit": commit()})
        return self._load(plan)


def _classifiers(plan: Plan) -> set[str]:
    """Which classifiers come before a plan's ordering model, as far as rows that share them must agree."""
    refiner = plan.config.write().get("refiner") or {}
    decides = {
        "initial": refiner.get("grn"),
        "iterative": {name: value for name, value in refiner.items() if name != "rounds"},
    }
    return {
        json.dumps([kind, plan.dataset.name, plan.seed, decides[kind]], sort_keys=True, default=str)
        for kind in classifier_kinds(plan.config)
    }
