"""The one call of bulk ordering: files in, a folder of Parquet out, and what came of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, Unpack, get_args

from unshuffle.bulk.journal import forgive
from unshuffle.bulk.manifest import Done, Layout, begin, drop_other_parts, finished
from unshuffle.bulk.parts import cut, find_files
from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.integrations.rows import ONE_BEST, RowSettings
from unshuffle.storage.files import write_json
from unshuffle.system.options import OrderKeywords

Engine = Literal["local", "ray"]
"""Processes of this machine, or a Ray cluster."""
ROWS = 2_000
"""Rows of a part, which is what is lost and done again when a worker dies."""


@dataclass(frozen=True, slots=True)
class BulkReport:
    """What a run did and what it found done; rows in are `ordered + bad`."""

    files: int
    parts: int
    resumed: int
    """Parts that an earlier run had finished."""
    ordered: int
    bad: int
    """Rows in the table of errors."""
    broken: tuple[str, ...] = field(default=())
    """Files that ended before their end, and why; their rows up to there are in the counts."""
    deaths: int = 0
    """Workers that were killed; Ray does not tell."""
    seconds: float = 0.0


def order_files(
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    engine: Engine = "local",
    model: str = "default",
    *,
    workers: int | None = None,
    parser: str | None = None,
    longest: int = 1_000,
    rows_per_part: int = ROWS,
    address: str | None = None,
    planned: Callable[[int], None] = lambda parts: None,
    report: Callable[[Done], None] = lambda done: None,
    **options: Unpack[OrderKeywords],
) -> BulkReport:
    """Orders every row of JSONL and Parquet files; called again on the same folder it goes on where it was cut off.

    `ordered/` holds an answer for each good row, `errors/` a line for each bad one. `workers` are processes, one per
    core unless given; `address` is that of a running Ray cluster. `options` are those of
    `unshuffle.order`.
    """
    if find_spec("pyarrow") is None:  # workers would find out one by one
        raise MissingExtra("Bulk work", "parquet")
    if engine not in get_args(Engine):
        raise ConfigError(f"engine '{engine}': there is no such engine. Use local or ray.")
    if options.get("judge") is not None:
        raise ConfigError("order-files: its processes share no judge. Use `unshuffle order --judge`, or order_many.")
    count = usable_cores() if workers is None else workers
    if count < 1 or rows_per_part < 1 or longest < 1:
        raise ConfigError("order-files: workers, rows_per_part and longest count from 1. Give larger numbers.")
    started = time.monotonic()
    settings = RowSettings(
        model=_absolute(model), parser=parser, options=replace(ONE_BEST, **options), longest=longest, threads=1
    )
    layout = Layout(Path(os.path.abspath(out)))
    files = find_files(paths, apart=layout.folder)
    begin(layout, settings)
    parts = list(cut(files, rows_per_part))
    drop_other_parts(layout, parts)
    forgive(layout.folder / "working")
    before = finished(layout, parts)
    left = [part for part in parts if part.name not in before]
    done, deaths = list(before.values()), 0
    planned(len(left))
    if left and engine == "ray":
        from unshuffle.bulk.cluster import done_on_ray

        done += _told(done_on_ray(left, settings, str(layout.folder), count, address), report)
    elif left:
        from unshuffle.bulk.crew import Crew

        with Crew(min(count, len(left)), settings, str(layout.folder)) as crew:
            done += _told(crew.done(left), report)
            deaths = crew.deaths
    found = BulkReport(
        files=len(files),
        parts=len(parts),
        resumed=len(before),
        ordered=sum(note.ordered for note in done),
        bad=sum(note.bad for note in done),
        broken=tuple(sorted(note.fault for note in done if note.fault)),
        deaths=deaths,
        seconds=round(time.monotonic() - started, 3),
    )
    write_json(layout.folder / "report.json", asdict(found))
    return found


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _absolute(model: str) -> str:
    """A worker may stand in another folder; names of shipped models are the same everywhere."""
    from unshuffle.system.loading import MODELS, find_folder

    folder = find_folder(model)
    return model if folder.parent == MODELS else os.path.abspath(folder)


def _told(notes: Iterator[Done], report: Callable[[Done], None]) -> Sequence[Done]:
    done = []
    for note in notes:
        report(note)
        done.append(note)
    return done
