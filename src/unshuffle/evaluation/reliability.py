"""How well confidence and truth agree: bins, their expected error, and the diagram."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unshuffle.errors import DataError, MissingExtra
from unshuffle.evaluation.predict import Prediction
from unshuffle.metrics.orders import tau
from unshuffle.storage.files import write_whole

BINS = 10
KINDS = (".svg", ".png", ".pdf")


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Documents of like confidence."""

    lower: float
    upper: float
    confidence: float
    """Their mean confidence; the bin's middle where it is empty."""
    share: float
    """Their mean share of rightly ordered pairs; 0 where the bin is empty."""
    documents: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """Expected calibration error, from 0 to 1, and the bins that it is summed over."""

    error: float
    bins: tuple[ConfidenceBin, ...]
    documents: int


def reliability(confidence: ArrayLike, share: ArrayLike, *, bins: int = BINS) -> Reliability:
    """Bins of equal width, each weighed by its documents.

    Unlike `metrics.calibration`, which is about pairs that are right or wrong, truths here are shares.
    """
    given, true = np.asarray(confidence, np.float64), np.asarray(share, np.float64)
    if not len(given) or given.shape != true.shape:
        raise DataError("reliability: there is nothing to compare. Give one share for each confidence.")
    member = np.minimum((given * bins).astype(np.int64), bins - 1)
    rows = []
    for at in range(bins):
        inside = member == at
        there = int(inside.sum())
        middle = (at + 0.5) / bins
        rows.append(
            ConfidenceBin(
                lower=at / bins,
                upper=(at + 1) / bins,
                confidence=float(given[inside].mean()) if there else middle,
                share=float(true[inside].mean()) if there else 0.0,
                documents=there,
            )
        )
    error = sum(row.documents * abs(row.confidence - row.share) for row in rows) / len(given)
    return Reliability(error, tuple(rows), len(given))


def reliability_of(predictions: Iterable[Prediction]) -> Reliability:
    """Of what a model said of its own orders; single sentences tell nothing."""
    rated = [one for one in predictions if one.confidence is not None and len(one.order) > 1]
    shares = [(1 + tau(one.order, range(len(one.order)))) / 2 for one in rated]
    return reliability([float(one.confidence or 0) for one in rated], shares)


def write_diagram(named: Mapping[str, tuple[Reliability, Reliability]], path: Path) -> None:
    """One panel a kind of text: reliability before and after calibration against the diagonal."""
    check_picture(path)
    from matplotlib.figure import Figure

    across = min(len(named), 4)
    down = -(-len(named) // across)
    figure = Figure(figsize=(3.1 * across + 0.6, 3.2 * down + 0.4), layout="constrained")
    for number, (name, (before, after)) in enumerate(named.items(), 1):
        axes = figure.add_subplot(down, across, number)
        axes.plot([0, 1], [0, 1], color="#a9b3bd", lw=1, ls="--")
        _curve(axes, before, "#d1495b", f"as found ({before.error:.3f})")
        _curve(axes, after, "#1b6ca8", f"calibrated ({after.error:.3f})")
        axes.set(xlim=(0.35, 1), ylim=(0.35, 1), aspect="equal")
        axes.set_title(f"{name} · {after.documents}", fontsize=10)
        axes.set_xlabel("confidence", fontsize=9)
        axes.set_ylabel("pairs in the right order", fontsize=9)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=7.5, frameon=False, loc="upper left")
    save_picture(figure, path)


def check_picture(path: Path) -> None:
    """Refuse, before any work is done, a picture that cannot be drawn here."""
    if path.suffix.lower() not in KINDS:
        raise DataError(f"{path}: there is no such kind of picture. End the name in {', '.join(KINDS)}.")
    if find_spec("matplotlib") is None:
        raise MissingExtra("A plot", "plot")


def save_picture(figure: Any, path: Path) -> None:
    """Write a figure of matplotlib, whole or not at all."""
    write_whole(path, lambda temporary: _save(figure, temporary, path.suffix[1:].lower()))


def _curve(axes: Any, found: Reliability, color: str, label: str) -> None:
    rows = [row for row in found.bins if row.documents]
    most = max(row.documents for row in rows)
    x, y = [row.confidence for row in rows], [row.share for row in rows]
    axes.plot(x, y, color=color, lw=1.4, label=label)
    axes.scatter(x, y, s=[6 + 70 * row.documents / most for row in rows], color=color, alpha=0.75, lw=0)


def _save(figure: Any, path: Path, format: str) -> None:
    # No time stamp, so that equal figures are equal files.
    metadata = {"Date": None} if format == "svg" else {"CreationDate": None} if format == "pdf" else None
    figure.savefig(str(path), format=format, dpi=150, metadata=metadata)
