"""Figures over documents and trained models, each with what chance would make of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshuffle.metrics.bootstrap import Band, bootstrap_band, paired_bootstrap
from unshuffle.metrics.orders import perfect_match, tau
from unshuffle.seeds import derived
from unshuffle_research.experiments.sheet import banded
from unshuffle_research.leaks.observe import Observed

Floats = NDArray[np.float64]
Found = list[list[Observed]]
"""One list of documents a trained model."""


def _each(found: Found, value: Any) -> Floats:
    """A number per document, the mean over models."""
    mean: Floats = np.mean([[value(row) for row in rows] for rows in found], 0, dtype=np.float64)
    return mean


def band(values: Floats, weights: Floats | None = None) -> Band:
    """Mean and what 95 % of resampled documents give."""
    return bootstrap_band(values, np.random.default_rng(derived(1, "leaks")), weights=weights, draws=2000)


def _linked(found: Found) -> tuple[NDArray[np.bool_], Floats]:
    sizes = np.array([row.linked for row in found[0]], np.float64)
    return sizes > 0, sizes[sizes > 0]


def _share(found: Found, value: Any) -> tuple[Floats, Floats]:
    inside, sizes = _linked(found)
    return 100 * _each(found, value)[inside] / sizes, sizes


def pair_band(found: Found, name: str) -> Band:
    """Share of linked pairs put right, by the way it scores itself."""
    shares, sizes = _share(found, lambda row: row.right[name])
    return band(shares, sizes)


def pair_lead(found: Found, name: str) -> str:
    """Its difference to the honest share."""
    if name == "honest":
        return "–"
    shares, sizes = _share(found, lambda row: row.right[name])
    honest, _ = _share(found, lambda row: row.right["honest"])
    return _difference(shares, honest, sizes)


def biased(found: Found, name: str, index: int) -> Band:
    """The same with a bias on every logit."""
    shares, sizes = _share(found, lambda row: row.biased[name][index])
    return band(shares, sizes)


def values(found: Found, kind: str, name: str, metric: Any = tau) -> Floats:
    """A measure of the orders, a number per document, in percent."""

    def value(row: Observed) -> float:
        order = getattr(row, kind)[name]
        return 100 * float(metric(order, range(len(order))))

    return _each(found, value)


def order_figures(found: Found, kind: str, name: str) -> dict[str, float]:
    """Tau and perfect match ratio."""
    return {
        "tau": round(float(values(found, kind, name).mean()), 3),
        "pmr": round(float(values(found, kind, name, perfect_match).mean()), 3),
    }


def two(found: Found, kind: str, name: str) -> tuple[str, str]:
    """The same as they are printed."""
    return banded(band(values(found, kind, name))), f"{values(found, kind, name, perfect_match).mean():.2f}"


def lead(found: Found, name: str) -> str:
    """Difference in tau of the ordering model to honest link weights."""
    if name == "honest":
        return "–"
    return _difference(values(found, "orders", name), values(found, "orders", "honest"), None)


def _difference(first: Floats, second: Floats, weights: Floats | None) -> str:
    found = paired_bootstrap(first, second, np.random.default_rng(derived(1, "leaks")), weights=weights)
    return f"{found.difference:+.2f} [{found.lower:+.2f}, {found.upper:+.2f}]"
