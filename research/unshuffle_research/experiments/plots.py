"""Pictures of results: our figures filled, the paper's hollow, bands from resampled documents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from unshuffle.errors import MissingExtra
from unshuffle.metrics.bootstrap import Band
from unshuffle.metrics.pairs import PairCalibration
from unshuffle.storage.files import write_whole

COLOURS = ("#1b6ca8", "#e07a1f", "#2a9d6f", "#8e5bb5", "#c2486b", "#6b7a86", "#b8960c", "#3f4fb0")
PAPER = "#b23a48"
BANDED = "ours, with 95 % of resampled documents"
INK, GRID = "#27313a", "#e3e8ec"


@dataclass(frozen=True)
class Panel:
    """One measure of all rows: ours with a band, the paper's where it prints one."""

    title: str
    ours: Sequence[Band | None]
    paper: Sequence[float | None]


@dataclass(frozen=True)
class Curve:
    """A line with a band around it."""

    label: str
    x: Sequence[float]
    bands: Sequence[Band]


def new_figure(width: float, height: float) -> Any:
    """An empty figure; nothing of matplotlib's global state is touched."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("A plot", "plot") from None
    return Figure(figsize=(width, height), layout="constrained")


def dots(rows: Sequence[str], panels: Sequence[Panel], *, ours: str = BANDED, paper: str = "paper") -> Any:
    """A row a system, a panel a measure."""
    longest = max(map(len, rows))
    figure = new_figure(0.08 * longest + 2.4 * len(panels) + 0.3, 0.33 * len(rows) + 1.2)
    figure.get_layout_engine().set(wspace=0.06)  # else the last figure of one axis touches the first of the next
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    levels = list(range(len(rows)))[::-1]
    for axes, panel in zip(grid, panels, strict=True):
        _clean(axes, along="x")
        for at, band, printed in zip(levels, panel.ours, panel.paper, strict=True):
            if printed is not None and not math.isnan(printed):
                axes.plot(printed, at, "D", ms=6, mfc="white", mec=PAPER, mew=1.4, zorder=3)
            if band is not None:
                axes.plot([band.lower, band.upper], [at, at], color=COLOURS[0], lw=2.2, alpha=0.45, zorder=4)
                axes.plot(band.value, at, "o", ms=6.5, color=COLOURS[0], zorder=5)
        axes.set_title(panel.title, fontsize=10.5, color=INK, loc="left")
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.margins(x=0.12)
    grid[0].set_yticks(levels, rows)
    printed_any = any(value is not None and not math.isnan(value) for panel in panels for value in panel.paper)
    _key(figure, {ours: "o"} | ({paper: "D"} if printed_any else {}))
    return figure


def curves(lines: Sequence[Curve], *, x: str, y: str, ticks: Mapping[float, str] | None = None) -> Any:
    """Lines with bands, each named where it ends."""
    figure = new_figure(7.4, 4.1)
    axes = figure.subplots()
    _clean(axes, along="y")
    for colour, line in zip(cycle(COLOURS), lines, strict=False):
        axes.fill_between(
            line.x,
            [band.lower for band in line.bands],
            [band.upper for band in line.bands],
            color=colour,
            alpha=0.13,
            lw=0,
        )
        axes.plot(line.x, [band.value for band in line.bands], "o-", color=colour, lw=1.9, ms=4.5, label=line.label)
    if ticks:
        axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    figure.legend(loc="outside upper left", ncols=min(len(lines), 4), frameon=False, fontsize=9)
    return figure


def reliability(named: Mapping[str, PairCalibration], decided: Mapping[str, Sequence[float]]) -> Any:
    """Left: how often pairs of a given probability are so; right: share of pairs settled, round by round."""
    figure = new_figure(8.6, 4.0)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.15])
    _clean(left, along="both")
    left.plot([0, 1], [0, 1], color="#9aa7b1", lw=1, ls=(0, (4, 3)), zorder=1)
    for colour, (label, found) in zip(COLOURS, named.items(), strict=False):
        rows = [row for row in found.bins if row.pairs]
        most = max(row.pairs for row in rows)
        x, y = [row.probability for row in rows], [row.frequency for row in rows]
        left.plot(x, y, color=colour, lw=1.6, label=f"{label}: ECE {found.error:.3f}", zorder=3)
        left.scatter(x, y, s=[8 + 70 * row.pairs / most for row in rows], color=colour, alpha=0.8, lw=0, zorder=4)
    left.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    left.set_xlabel("predicted probability that the pair stands so", color=INK, fontsize=9)
    left.set_ylabel("share that does", color=INK, fontsize=9)
    left.legend(frameon=False, fontsize=8, loc="upper left")
    _clean(right, along="y")
    for colour, (label, shares) in zip(COLOURS, decided.items(), strict=False):
        right.plot(range(len(shares)), shares, "o-", color=colour, lw=1.9, ms=5, label=label)
    steps = max(map(len, decided.values()), default=1)
    right.set_xticks(range(steps), ["initial", *map(str, range(1, steps))])
    right.set_xlim(-0.3, max(steps - 1, 1) + 0.3)
    right.set_ylim(0, 100)
    right.set_xlabel("round", color=INK, fontsize=9)
    right.set_ylabel("linked pairs settled, %", color=INK, fontsize=9)
    if len(decided) > 1:
        right.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def scatter(ours: Mapping[str, tuple[float, Band]], paper: Mapping[str, tuple[float, float]], *, x: str, y: str) -> Any:
    """A point a data set; ours with a band."""
    figure = new_figure(6.8, 4.2)
    axes = figure.subplots()
    _clean(axes, along="both")
    axes.axhline(0, color="#9aa7b1", lw=1)
    behind = {"fc": "white", "ec": "none", "alpha": 0.8, "pad": 0.8}  # a name that lies on a line stays legible
    for name, (at, value) in paper.items():
        axes.plot(at, value, "D", ms=7, mfc="white", mec=PAPER, mew=1.4, zorder=3)
        axes.annotate(name, (at, value), (7, 4), textcoords="offset points", fontsize=8.5, color=PAPER, bbox=behind)
    for name, (at, band) in ours.items():
        axes.plot([at, at], [band.lower, band.upper], color=COLOURS[0], lw=2.2, alpha=0.45, zorder=4)
        axes.plot(at, band.value, "o", ms=7.5, color=COLOURS[0], zorder=5)
        axes.annotate(
            name,
            (at, band.value),
            (7, -11),
            textcoords="offset points",
            fontsize=8.5,
            color=COLOURS[0],
            bbox=behind,
        )
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    axes.margins(0.14)
    _key(figure, {"ours, 95 % of resampled documents": "o"} | ({"paper, on its own data": "D"} if paper else {}))
    return figure


def save(figure: Any, stem: Path) -> None:
    """As `.svg`; equal figures are equal files."""
    import matplotlib

    def write(path: Path) -> None:
        with matplotlib.rc_context({"svg.hashsalt": stem.name}):
            figure.savefig(str(path), format="svg", metadata={"Date": None}, facecolor="white")

    write_whole(stem.with_name(f"{stem.name}.svg"), write)


def _clean(axes: Any, *, along: str) -> None:
    axes.spines[["top", "right", "left", "bottom"]].set_color(GRID)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=along, color=GRID, lw=0.9)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=9, colors=INK)


def _key(figure: Any, marks: Mapping[str, str]) -> None:
    from matplotlib.lines import Line2D

    looks: dict[str, dict[str, Any]] = {
        "o": {"color": COLOURS[0], "ms": 6.5, "lw": 2.2},
        "D": {"mfc": "white", "mec": PAPER, "ms": 6, "mew": 1.4, "lw": 0},
    }
    handles = [Line2D([], [], marker=mark, label=label, **looks[mark]) for label, mark in marks.items()]
    figure.legend(handles=handles, loc="outside lower left", ncols=2, frameon=False, fontsize=8.5, labelcolor=INK)
