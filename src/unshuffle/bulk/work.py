"""One part from file to file; the same on one machine and on a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from unshuffle.bulk.journal import Journal
from unshuffle.bulk.manifest import Done, Layout
from unshuffle.bulk.parts import Part
from unshuffle.bulk.reading import DocumentRow, Rows, read_part
from unshuffle.errors import DataError, UnshuffleError
from unshuffle.integrations.columns import ANSWER, answer_columns
from unshuffle.integrations.rows import Outcome, RowOrderer, RowSettings
from unshuffle.storage.files import write_json, write_whole

TOGETHER = 64
"""Rows in work at a time."""
ORIGIN = pa.schema([("source", pa.string()), ("row", pa.int64()), ("id", pa.string())])
ORDERED = [field for field in ANSWER if field.name != "error"]
ERRORS = pa.schema([*ORIGIN, ("error", pa.string())])
BLAMED = "the process ended each time this document was ordered. Look at its size and text"


class PartWorker:
    """Does parts one after the other with one model."""

    def __init__(self, settings: RowSettings, folder: str) -> None:
        self._rows = RowOrderer(settings)
        self._layout = Layout(Path(folder))

    def __call__(self, part: Part) -> Done:
        """Both tables are written whole, then the note that the part is done; doing it twice does no harm."""
        try:
            return self._do(part)
        except (UnshuffleError, MemoryError):  # for want of memory the process ends, and the part is tried again
            raise
        except Exception as error:  # a part that fails so would fail again
            reason = (str(error).splitlines() or [""])[0][:200]
            raise DataError(
                f"{part.source}: it could not be ordered ({type(error).__name__}: {reason}). "
                "Look at the file, or leave it out; what is finished is kept."
            ) from error

    def _do(self, part: Part) -> Done:
        started = time.monotonic()
        self._rows.orderer  # noqa: B018  before any file is touched
        layout = self._layout
        journal_file = layout.journal(part.name)
        journal_file.parent.mkdir(parents=True, exist_ok=True)
        journal = Journal.open(journal_file, (part.size, part.changed))
        tables = _Tables(part)

        def write(answers: Path, errors: Path) -> None:
            with tables.opened(answers, errors):
                self._fill(part, journal, tables)

        write_whole(
            layout.ordered(part.name),
            lambda answers: write_whole(layout.errors(part.name), lambda errors: write(answers, errors)),
        )
        if not tables.bad and not tables.fault:
            layout.errors(part.name).unlink(missing_ok=True)
        done = Done(
            name=part.name,
            source=part.source,
            size=part.size,
            changed=part.changed,
            rows=part.rows,
            ordered=tables.ordered,
            bad=tables.bad,
            fault=tables.fault,
            seconds=round(time.monotonic() - started, 3),
        )
        write_json(layout.done(part.name), asdict(done))
        journal.close()
        return done

    def _fill(self, part: Part, journal: Journal, tables: _Tables) -> None:
        try:
            for some in read_part(part, TOGETHER):
                tables.add(some, self._outcomes(some.rows, journal))
        except DataError as error:  # of the file, not of a row
            tables.end_with(str(error))

    def _outcomes(self, rows: Sequence[DocumentRow], journal: Journal) -> list[Outcome]:
        positions = {row.number: position for position, row in enumerate(rows)}
        outcomes = [Outcome(error=row.error or f"{row.id}: {BLAMED}.") for row in rows]
        for group in journal.groups([row.number for row in rows if row.error is None]):
            journal.begin(group)
            texts = [list(rows[positions[number]].sentences) for number in group]
            for number, outcome in zip(group, self._rows.outcomes(texts), strict=True):
                outcomes[positions[number]] = outcome
        return outcomes


class _Tables:
    """The two tables of a part while they are written: a row that comes in leaves through exactly one of them."""

    def __init__(self, part: Part) -> None:
        self._source = part.source
        self._answers: Any = None
        self._errors: Any = None
        self._path = Path()
        self.ordered = self.bad = 0
        self.fault: str | None = None

    def opened(self, answers: Path, errors: Path) -> _Tables:
        self._path, self._errors = answers, parquet.ParquetWriter(errors, ERRORS)
        return self

    def __enter__(self) -> None: ...

    def __exit__(self, *trouble: object) -> None:
        self._errors.close()
        if self._answers is None:  # no row has shown the columns yet
            self._answers = parquet.ParquetWriter(self._path, pa.schema([*ORIGIN, *ORDERED]))
        self._answers.close()

    def add(self, some: Rows, outcomes: Sequence[Outcome]) -> None:
        good = [position for position, outcome in enumerate(outcomes) if outcome.error is None]
        bad = [position for position, outcome in enumerate(outcomes) if outcome.error is not None]
        if good or self._answers is None:
            table = self._table(some, outcomes, good)
            if self._answers is None:
                self._answers = parquet.ParquetWriter(self._path, table.schema)
            self._answers.write_table(table)
        if bad:
            errors = [[outcomes[position].error for position in bad]]
            self._errors.write_table(pa.table([*self._origin(some, bad), *errors], schema=ERRORS))
        self.ordered, self.bad = self.ordered + len(good), self.bad + len(bad)

    def end_with(self, fault: str) -> None:
        """The file ended before its end; the error's row is null, since nobody knows what would have come."""
        self.fault = fault
        self._errors.write_table(pa.table([[self._source], [None], [None], [fault]], schema=ERRORS))

    def _origin(self, some: Rows, positions: Sequence[int]) -> Iterator[list[Any]]:
        rows = [some.rows[position] for position in positions]
        yield [self._source] * len(rows)
        yield [row.number for row in rows]
        yield [row.id for row in rows]

    def _table(self, some: Rows, outcomes: Sequence[Outcome], positions: Sequence[int]) -> Any:
        columns = {
            name: pa.array(values, ORIGIN.field(name).type)
            for name, values in zip(ORIGIN.names, self._origin(some, positions), strict=True)
        }
        picked = pa.array(positions, pa.int64())
        columns |= {name: some.others.column(name).take(picked) for name in some.others.column_names}
        chosen = [outcomes[position] for position in positions]
        answer = answer_columns(chosen, [None] * len(chosen))
        columns |= {name: values for name, values in zip(ANSWER.names, answer, strict=True) if name != "error"}
        return pa.table(columns)
