"""A progress bar where somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sized
from importlib.util import find_spec
from typing import TypeVar

Result = TypeVar("Result")

DELAY = 1.0
"""Seconds within which nothing is shown: what is done by then needs no bar."""


def shown(results: Iterator[Result], source: object, wanted: bool | None, *, unit: str) -> Iterator[Result]:
    """Passes results on under a bar; `wanted=None` shows one only on a terminal or in a notebook."""
    if wanted is False or (wanted is None and not _can_be_seen()):
        return results
    if "ipykernel" in sys.modules and find_spec("ipywidgets") is not None:
        from tqdm.notebook import tqdm
    else:  # tqdm.auto would warn about missing widgets in the middle of the answers
        from tqdm.std import tqdm

    total = len(source) if isinstance(source, Sized) else None
    return iter(tqdm(results, total=total, unit=unit, delay=0 if wanted else DELAY, leave=False))


def _can_be_seen() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
