"""The figures that the paper prints."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from functools import cache
from typing import Any

from unshuffle_research.experiments.settings import FOLDER, PUBLISHED


@cache
def published() -> dict[str, Any]:
    """All tables, by name."""
    return tomllib.loads((FOLDER / f"{PUBLISHED}.toml").read_text(encoding="utf-8"))


def printed(*path: str) -> tuple[float, ...] | None:
    """The figures of one row, or None where the paper has no such row."""
    found: Any = published()
    for step in path:
        if not isinstance(found, dict) or step not in found:
            return None
        found = found[step]
    if isinstance(found, int | float):
        return (float(found),)
    return tuple(float(value) for value in found) if isinstance(found, list) else None


def shown(values: Sequence[float] | None, digits: int = 2) -> str:
    """Figures side by side, a dash for each that was not printed."""
    if values is None:
        return "–"
    return " / ".join("–" if math.isnan(value) else f"{value:.{digits}f}" for value in values)
