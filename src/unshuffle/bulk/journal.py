"""Where a part's worker is, on disk: so that a document which kills its process is found out and left aside."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DEATHS = 2
"""So often a process may end while a document is alone in its hands, before the document is blamed."""


@dataclass
class Journal:
    """Read when a part is begun; if there is one, somebody died over the part before."""

    file: Path
    of: tuple[int, int] = (0, 0)
    """Size and time of the input file, since rows of a changed one are other rows."""
    suspects: set[int] = field(default_factory=set)
    """Rows that were in work when a process ended; they are tried alone."""
    deaths: dict[int, int] = field(default_factory=dict)
    """How often a process ended while this row was alone in work."""

    @classmethod
    def open(cls, file: Path, of: tuple[int, int] = (0, 0)) -> Journal:
        """What earlier workers left behind."""
        journal = cls(file, of)
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            if tuple(found["of"]) != of:
                return journal
            journal.suspects = {int(row) for row in (*found["suspects"], *found["at"])}
            journal.deaths = {int(row): int(count) for row, count in found["deaths"].items()}
            if len(found["at"]) == 1:
                (alone,) = found["at"]
                journal.deaths[int(alone)] = journal.deaths.get(int(alone), 0) + 1
        return journal

    def guilty(self, row: int) -> bool:
        """Whether the row has ended too many processes."""
        return self.deaths.get(row, 0) >= DEATHS

    def groups(self, rows: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """The rows together, but each suspect alone; those that are guilty are left out."""
        together = tuple(row for row in rows if row not in self.suspects and not self.guilty(row))
        if together:
            yield together
        for row in rows:
            if row in self.suspects and not self.guilty(row):
                yield (row,)

    def begin(self, rows: Sequence[int]) -> None:
        """Say what is in work now; written in place, because half a journal is as good as none."""
        content = {"of": self.of, "at": list(rows), "suspects": sorted(self.suspects), "deaths": self.deaths}
        with contextlib.suppress(OSError):  # a full disk will be met, and reported, when the answer is written
            self.file.write_text(json.dumps(content), encoding="utf-8")

    def close(self) -> None:
        """The part is done."""
        self.file.unlink(missing_ok=True)


def forgive(folder: Path) -> None:
    """Before a run: what was in work when the last one was stopped is tried alone, and blamed for nothing."""
    for file in folder.glob("*.json"):
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads(file.read_text(encoding="utf-8"))
            found |= {"at": [], "suspects": [*found["suspects"], *found["at"]]}
            file.write_text(json.dumps(found), encoding="utf-8")
