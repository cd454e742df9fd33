"""What an experiment hands over: tables as they are printed, plots, and the raw figures behind both."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from unshuffle.metrics.bootstrap import Band


@dataclass(frozen=True)
class Table:
    """Cells as they are printed."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def markdown(self) -> str:
        """A Markdown table."""
        lines = ["| " + " | ".join(self.head) + " |", "|" + "---|" * len(self.head)]
        return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in self.rows)]) + "\n"


@dataclass(frozen=True)
class Plot:
    """A picture, drawn once the sheet is written."""

    name: str
    caption: str
    figure: Any
    """A matplotlib figure."""


@dataclass(frozen=True)
class Sheet:
    """One experiment on one data set, or on several that only mean something together."""

    dataset: str
    subtitle: str
    tables: tuple[Table, ...]
    plots: tuple[Plot, ...] = ()
    notes: tuple[str, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)
    """The raw figures."""
    runs: tuple[dict[str, Any], ...] = ()
    """Row, seed and minutes of each model behind it, and the file, where results were read back."""


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Mean, and the standard deviation over seeds where there is more than one."""
    mean = f"{statistics.mean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def banded(band: Band, digits: int = 2) -> str:
    """A value with the ends of its bootstrap interval."""
    return f"{band.value:.{digits}f} [{band.lower:.{digits}f}, {band.upper:.{digits}f}]"
