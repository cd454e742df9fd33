"""What an experiment asks and of which systems: one TOML each, inside the package."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from unshuffle.errors import ConfigError
from unshuffle.parts.registry import did_you_mean, validated
from unshuffle_research import CONFIGS

FOLDER = CONFIGS / "experiments"
PUBLISHED = "published"


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A system with something changed or left out."""

    name: str
    title: str
    changes: tuple[str, ...] = ()
    system: str = ""
    """Which system is changed; the experiment's first where none is named."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One experiment."""

    title: str
    place: str
    """Where the paper has it."""
    question: str
    systems: tuple[str, ...]
    variants: tuple[Variant, ...] = ()
    baseline: str = ""
    """The system that others are held against."""
    weights: tuple[float, ...] = ()
    """Weights of shared entities in the coherence probability."""
    fewest: Annotated[int, Ge(1)] = 20
    """Documents that a point of a curve must rest on; lengths with fewer are joined."""
    reliabilities: tuple[float, ...] = ()
    """Shares of link weights that tell the truth."""
    repeats: Annotated[int, Ge(1)] = 3
    """How often a run is timed."""


def experiment_names() -> list[str]:
    """The experiments there are."""
    return sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem != PUBLISHED)


def load_settings(name: str) -> Settings:
    """An experiment by name."""
    if name not in experiment_names():
        raise ConfigError(f"experiment '{name}': there is no such experiment.{did_you_mean(name, experiment_names())}")
    options = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    settings: Settings = validated(name, Settings, options)
    return settings
