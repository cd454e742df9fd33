"""One experiment from its name to files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from unshuffle.errors import ConfigError
from unshuffle.parts.registry import did_you_mean
from unshuffle.system.rows import system_names
from unshuffle.training.loop import Progress
from unshuffle_research.experiments.ablation import ablation
from unshuffle_research.experiments.bench import Bench
from unshuffle_research.experiments.clock import Clock
from unshuffle_research.experiments.cost import cost
from unshuffle_research.experiments.density import ALL, density
from unshuffle_research.experiments.head_tail import head_tail
from unshuffle_research.experiments.kept import Results
from unshuffle_research.experiments.length import length
from unshuffle_research.experiments.main import main
from unshuffle_research.experiments.models import Models
from unshuffle_research.experiments.oracle import oracle
from unshuffle_research.experiments.page import write_page
from unshuffle_research.experiments.pairwise import pairwise
from unshuffle_research.experiments.plan import open_dataset
from unshuffle_research.experiments.report import write_sheet
from unshuffle_research.experiments.settings import load_settings
from unshuffle_research.experiments.sheet import Sheet
from unshuffle_research.experiments.summaries import summaries

EXPERIMENTS: dict[str, Callable[[Bench], Iterator[Sheet]]] = {
    "main": main,
    "pairwise": pairwise,
    "length": length,
    "head-tail": head_tail,
    "ablation": ablation,
    "summaries": summaries,
    "cost": cost,
    "density": density,
    "controls": main,
    "oracle": oracle,
}


def run_experiment(
    name: str,
    data: Sequence[str],
    out: Path,
    runs: Path,
    *,
    minutes: float = 0.0,
    seeds: Sequence[int] = (1,),
    systems: Sequence[str] = (),
    changes: Sequence[str] = (),
    texts: Sequence[str] = (),
    documents: int = 0,
    held_out: int = 0,
    shuffles: int = 3,
    beam: int = 64,
    resume: bool = True,
    training: bool = True,
    progress: Callable[[Progress], None] = lambda progress: None,
    say: Callable[[str], None] = lambda line: None,
) -> list[Path]:
    """Trains what is missing, measures, and writes `<out>/<name>/` and `<out>/report.html`; gives the sheets' files.

    What is trained and predicted lies in `runs`, shared by all experiments; the same call goes on where it was cut off.
    """
    settings = load_settings(name)
    if not data:
        raise ConfigError(f"{name}: no data is given. Say --data NAME=FOLDER.")
    known = [variant.name for variant in settings.variants] or system_names()
    for system in systems:
        if system not in known:
            raise ConfigError(f"--systems {system}: there is no such row.{did_you_mean(system, known)}")
    for change in changes:
        row, colon, _ = change.partition(":")
        if colon and "=" not in row and row not in known:
            raise ConfigError(f"--set {change}: there is no row '{row}'.{did_you_mean(row, known)}")
    clock = Clock(minutes)
    # Who trains wants figures of their own making: results are read back only where nothing is to be trained.
    results = None if training else Results(out, name, shuffles, beam)
    models = Models(runs, clock, progress, say, training, results)
    bench = Bench(
        settings=settings,
        datasets=tuple(open_dataset(given, documents=documents, held_out=held_out) for given in data),
        models=models,
        out=out / name,
        seeds=tuple(seeds),
        systems=tuple(systems),
        changes=tuple(changes),
        shuffles=shuffles,
        beam=beam,
        resume=resume,
        texts=tuple(texts),
    )
    models.expect(plan for dataset in bench.datasets for plan in bench.plans(dataset))
    written = []
    for sheet in EXPERIMENTS[name](bench):
        there = {run["row"] for run in sheet.runs}
        late = {
            plan.label: None
            for plan in models.missing
            if plan.row not in there and (sheet.dataset == ALL or sheet.dataset.startswith(plan.dataset.name))
        }
        if late:
            sheet = replace(sheet, notes=(*sheet.notes, f"Not trained yet: {'; '.join(late)}."))
        written.append(write_sheet(sheet, name, settings, bench.out, minutes=clock.spent))
    if not written:
        raise ConfigError(f"{name}: no model was ready. Run the same command again, or give it more minutes.")
    write_page(out)
    return written
