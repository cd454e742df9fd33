"""What a training was begun with, kept beside it: a training goes on with the same or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unshuffle.errors import ConfigError
from unshuffle.storage.files import read_json, write_json

FILE = "settings.json"
SHOWN = 5
"""How many differences are named."""


def check_settings(folder: Path, settings: Mapping[str, Any], *, write: bool) -> None:
    """Refuses to go on with other settings than a folder's training was begun with, and says which differ."""
    now = json.loads(json.dumps(settings, default=str))
    if not (folder / FILE).exists():
        if write:
            write_json(folder / FILE, now)
        return
    found = list(_differences(read_json(folder / FILE), now))
    if found:
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise ConfigError(
            f"{folder}: the training there was begun with other settings: {', '.join(found[:SHOWN])}{more}. "
            "Give the same ones, or choose another --out."
        )


def _differences(before: Any, now: Any, name: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            yield from _differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif before != now:
        yield f"{name} ({_short(before)} before, {_short(now)} now)"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."
