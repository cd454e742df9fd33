"""All that an experiment is given: its settings, data, models, seeds, and where results go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unshuffle.metrics.bootstrap import Band, Comparison, bootstrap_band, paired_bootstrap
from unshuffle.seeds import derived
from unshuffle_research.experiments.measure import Measured, by_row, measured
from unshuffle_research.experiments.models import Models, Trained
from unshuffle_research.experiments.plan import Dataset, Plan, changes_of, plans_for
from unshuffle_research.experiments.settings import Settings

DRAWS = 2000


@dataclass(frozen=True, kw_only=True)
class Bench:
    """One call of one experiment."""

    settings: Settings
    datasets: tuple[Dataset, ...]
    models: Models
    out: Path
    """The experiment's folder of results."""
    seeds: tuple[int, ...] = (1,)
    systems: tuple[str, ...] = ()
    """In place of those that the settings name."""
    changes: tuple[str, ...] = ()
    shuffles: int = 3
    beam: int = 64
    resume: bool = True
    texts: tuple[str, ...] = ()
    """Summaries to be put in order: `NAME=FILE`."""
    written: list[Path] = field(default_factory=list)

    def plans(self, dataset: Dataset) -> list[Plan]:
        """Every system, or every variant of the one system, with every seed."""
        systems = self.systems or self.settings.systems
        if not self.settings.variants:
            return plans_for(systems, dataset, self.seeds, self.changes)
        chosen = [variant for variant in self.settings.variants if not self.systems or variant.name in self.systems]
        base = self.settings.systems[0]
        return [
            Plan(
                variant.name,
                variant.system or base,
                dataset,
                seed,
                (*changes_of(variant.name, self.changes), *variant.changes),
                variant.title,
            )
            for seed in self.seeds
            for variant in chosen
        ]

    def trained(self, plans: Sequence[Plan]) -> Iterator[Trained]:
        """The models of some plans."""
        return self.models.take(plans)

    def measurable(self, plans: Sequence[Plan]) -> Iterator[Trained]:
        """The models of some plans, or what earlier calls wrote of them: their orders of the test documents will do."""
        return self.models.take(plans, results=True)

    def rows(self, dataset: Dataset) -> dict[str, list[Measured]]:
        """All models of the experiment on the test documents, by row; each is written as soon as it is measured."""
        found = []
        for trained in self.measurable(self.plans(dataset)):
            found.append(self.measure(trained))
            self.write(found[-1])
        return by_row(found)

    def measure(self, trained: Trained) -> Measured:
        """One model on the test documents."""
        return measured(self.models, trained, shuffles=self.shuffles, beam=self.beam, resume=self.resume)

    def write(self, one: Measured, **more: Any) -> Path | None:
        """Figures and orders of one model, into the results; what was read back from there stays as it is."""
        if one.trained.kept:
            return None
        self.written.append(one.write(self.out, **more))
        return self.written[-1]


def run_of(trained: Trained) -> dict[str, Any]:
    """What a sheet says of a model behind it."""
    plan = trained.plan
    of = {"row": plan.row, "seed": plan.seed, "minutes": round(trained.minutes, 2), "cut": trained.cut}
    return of | ({"read": f"{trained.folder.name}/{trained.kept.path.name}"} if trained.kept else {})


def cut_mark(runs: Iterable[Trained]) -> str:
    """A star behind figures of trainings that a time-box has ended."""
    return "*" if any(one.cut for one in runs) else ""


def cut_note(runs: Iterable[Trained]) -> str:
    """What the star means, where there is one."""
    return "* ended by the time-box." if cut_mark(runs) else ""


def level_with_best(rows: Mapping[str, Sequence[Measured]], measure: str = "tau") -> frozenset[str]:
    """The best finished row, and those that are behind it by no more than chance explains; none where it is alone."""
    finished = {row: runs for row, runs in rows.items() if not cut_mark(run.trained for run in runs)}
    if len(finished) < 2:
        return frozenset()
    best = max(finished, key=lambda row: float(np.mean([run.test[measure] for run in finished[row]])))
    leads = {row: lead_over(finished[best], runs, measure) for row, runs in finished.items() if row != best}
    return frozenset({best, *(row for row, lead in leads.items() if lead is not None and lead.lower <= 0)})


def band_over(measurements: Sequence[Measured], measure: str) -> Band:
    """A measure over all seeds and shuffles; whole documents are drawn, with all their predictions."""
    values = np.mean([one.by_document(measure) for one in measurements], 0)
    weights = measurements[0].document_lengths if measure == "acc_micro" else None
    generator = np.random.default_rng(derived(1, "band", measure))
    return bootstrap_band(values, generator, weights=weights, draws=DRAWS)


def lead_over(ahead: Sequence[Measured], behind: Sequence[Measured], measure: str) -> Comparison | None:
    """How far one row is ahead of another on the same documents, shuffles and seeds; None where no seed is shared."""
    seeds = {one.trained.plan.seed for one in ahead} & {one.trained.plan.seed for one in behind}
    if not seeds:
        return None
    first, second = (
        np.mean([one.by_document(measure) for one in side if one.trained.plan.seed in seeds], 0)
        for side in (ahead, behind)
    )
    weights = ahead[0].document_lengths if measure == "acc_micro" else None
    return paired_bootstrap(first, second, np.random.default_rng(derived(1, "lead", measure)), weights=weights)
