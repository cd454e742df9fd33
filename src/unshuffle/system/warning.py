"""Warnings of a result, raised where Python users see them."""

from __future__ import annotations

import sys
import warnings

from unshuffle.result import Ordering

FRONT_ENDS = ("unshuffle.cli", "unshuffle.serve")
"""They tell what a result warns of in their own way."""


def tell(ordering: Ordering) -> None:
    """Raises a result's warnings at the line that asked for it."""
    frame, level, outside = sys._getframe(1), 3, 0
    while frame.f_back is not None:
        frame = frame.f_back
        module = frame.f_globals.get("__name__", "")
        if module.startswith(FRONT_ENDS):
            return
        if not outside and module.partition(".")[0] not in ("unshuffle", "tqdm"):
            outside = level
        level += 1
    named = f"document '{ordering.id}': " if ordering.id else ""
    for warning in ordering.warnings:
        warnings.warn(f"{named}{warning}", UserWarning, stacklevel=outside or 2)
