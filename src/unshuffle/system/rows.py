"""The table of systems: rows of TOML inside the package, found by name, changed by `a.b=c`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unshuffle.errors import ConfigError
from unshuffle.parts.registry import did_you_mean, validated

if TYPE_CHECKING:
    from unshuffle.system.config import SystemConfig

CONFIGS = Path(__file__).parents[1] / "configs"
ROWS = CONFIGS / "systems"


@dataclass(frozen=True, kw_only=True)
class About:
    """Where a system comes from."""

    title: str
    paper: str
    year: int
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One system: what it is made of, how it is trained, where it comes from."""

    name: str
    about: About
    system: SystemConfig
    training: dict[str, Any]


def system_names() -> list[str]:
    """All rows there are."""
    return sorted(path.stem for path in ROWS.glob("*.toml"))


def load_row(name: str, changes: Iterable[str] = ()) -> Row:
    """A row by name, or a TOML file of the user's, with changes such as `training.batch=8`."""
    from unshuffle.system.config import SystemConfig

    options = apply_changes(_read(name), changes)
    about = _about(name, options)
    training = options.pop("training", {})
    return Row(Path(name).stem, about, SystemConfig.read(options), training)


@dataclass(frozen=True)
class Outline:
    """A row as it is listed: the kind of part in each slot."""

    about: About
    parts: dict[str, str | None]


def outline(name: str) -> Outline:
    """A row without its parts, which would have to be imported to be checked."""
    options = _read(name)
    parts: dict[str, str | None] = {slot: options[slot]["kind"] for slot in ("sentence_encoder", "paragraph_encoder")}
    parts["refiner"] = "iterative" if "refiner" in options else None
    parts["decoder"] = options["decoder"]["kind"]
    return Outline(_about(name, options), parts)


def _about(name: str, options: dict[str, Any]) -> About:
    about: About = validated("about", About, options.pop("about", {"title": name, "paper": "", "year": 0}))
    return about


def _read(name: str, within: tuple[str, ...] = ()) -> dict[str, Any]:
    if name.endswith(".toml"):
        path = Path(name)
    elif name.startswith("bases/"):
        path = CONFIGS / f"{name}.toml"
    else:
        path = ROWS / f"{name}.toml"
    if not path.is_file():
        raise ConfigError(f"system '{name}': there is no such system.{did_you_mean(name, system_names())}")
    try:
        options = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML ({error}).") from None
    base = str(options.pop("extends", ""))
    if base in (name, *within):
        raise ConfigError(f"{path}: 'extends' leads back to '{base}'. Extend another system.")
    return merged(_read(base, (name, *within)), options) if base else options


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Tables are merged key by key; a table of another `kind` replaces the base's whole."""
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        same_kind = (
            isinstance(value, Mapping)
            and isinstance(old, Mapping)
            and value.get("kind", old.get("kind")) == old.get("kind")
        )
        result[key] = merged(old, value) if same_kind else value  # type: ignore[arg-type]
    return result


def apply_changes(options: dict[str, Any], changes: Iterable[str]) -> dict[str, Any]:
    """`a.b=c` sets option b of table a; the value is read as TOML, or taken as text."""
    for change in changes:
        path, equals, text = change.partition("=")
        if not equals or not path:
            raise ConfigError(f"--set {change}: expected table.option=value.")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        for key in reversed([key.strip() for key in path.split(".")]):
            value = {key: value}
        options = merged(options, value)
    return options
