"""Trained models by plan: taken from where they lie, gone on with, or trained, within the time there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unshuffle.experiments.clock import Clock, boxed
from unshuffle.experiments.plan import Dataset, Plan
from unshuffle.files import read_json, write_json
from unshuffle.system.folder import load_model
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.training.corpus import parsed
from unshuffle.training.loop import Progress
from unshuffle.training.results import command_line, commit
from unshuffle.training.run import Job, train_system

MADE = "made.json"


@dataclass(frozen=True)
class Trained:
    """A model and how it came about."""

    plan: Plan
    orderer: Orderer
    folder: Path
    trail: tuple[dict[str, Any], ...]
    made: dict[str, str]
    """Command and commit of the training, which may be older than those of what is measured now."""

    @property
    def minutes(self) -> float:
        """Training time of all its stages, also of those that it shares with others."""
        return sum(float(stage["minutes"]) for stage in self.trail)

    @property
    def cut(self) -> bool:
        """Whether a time-box ended any stage."""
        return any(stage["cut"] for stage in self.trail)

    @property
    def parameters(self) -> int:
        """All of them, both classifiers included."""
        return sum(parameter.numel() for parameter in self.orderer.model.network.parameters())


@dataclass
class Models:
    """A folder of models, stages and parses that all experiments share."""

    folder: Path
    clock: Clock = field(default_factory=Clock)
    progress: Callable[[Progress], None] = lambda progress: None
    say: Callable[[str], None] = lambda line: None
    missing: list[Plan] = field(default_factory=list)
    """Plans for which there was no time."""

    def take(self, plans: Sequence[Plan]) -> Iterator[Trained]:
        """One model a plan, in order; once the time is over only those that lie there already."""
        waiting = [plan for plan in plans if not self._done(plan)]
        for plan in plans:
            if self._done(plan):
                yield self._load(plan)
            elif self.clock.over:
                self.missing.append(plan)
                self.say(f"{plan.key}: no time left; the same command goes on with it.")
            else:
                self.say(f"{plan.key}: training {1 + len(plans) - len(waiting)} of {len(plans)}")
                yield self._train(plan, self.clock.share(len(waiting)))
            if plan in waiting:
                waiting.remove(plan)

    def parsed(self, dataset: Dataset, split: str, parser: str) -> tuple[Document, ...]:
        """The documents of a split with their mentions."""
        return parsed(getattr(dataset.splits, split), parser, self.folder / "parses")

    def _place(self, plan: Plan) -> Path:
        return self.folder / "models" / plan.key

    def _done(self, plan: Plan) -> bool:
        return (self._place(plan) / "config.json").is_file()

    def _load(self, plan: Plan) -> Trained:
        return self._found(plan, Orderer(load_model(str(self._place(plan)))))

    def _found(self, plan: Plan, orderer: Orderer) -> Trained:
        folder = self._place(plan)
        made = read_json(folder / MADE) if (folder / MADE).is_file() else {}
        return Trained(plan, orderer, folder, tuple(read_json(folder / "trail.json")), made)

    def _train(self, plan: Plan, minutes: float) -> Trained:
        job = Job(
            name=plan.system,
            config=plan.config,
            training=boxed(plan.training, plan.config, minutes),
            data=plan.dataset.splits,
            out=self._place(plan),
            seed=plan.seed,
            resume=True,
            stages=self.folder / "stages" / plan.dataset.name,
            cache=self.folder / "parses",
        )
        orderer = train_system(job, self.progress)
        write_json(job.out / MADE, {"command": command_line(), "commit": commit()})
        return self._found(plan, orderer)
