"""A recipe: a system, a mixture of text to train it on, and where both come from; all in one TOML of the package."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unshuffle.errors import ConfigError
from unshuffle.registry import did_you_mean, validated
from unshuffle.system.config import SystemConfig
from unshuffle.systems import CONFIGS, apply_changes, load_row, merged
from unshuffle.training.config import TrainingConfig
from unshuffle.training.mixture import MixtureConfig

RECIPES = CONFIGS / "recipes"


@dataclass(frozen=True)
class Recipe:
    """All that decides a shipped model."""

    name: str
    system: SystemConfig
    training: TrainingConfig
    mixture: MixtureConfig


def recipe_names() -> list[str]:
    """The recipes of the package."""
    return sorted(path.stem for path in RECIPES.glob("*.toml"))


def load_recipe(name: str, changes: Iterable[str] = ()) -> Recipe:
    """A recipe by name: `system` names a row of the table, `changes` are made to it, `mixture_of` another recipe's."""
    path = _file(name)
    options = _options(path)
    if other := options.get("mixture_of"):
        options["mixture"] = merged(_options(_file(str(other)))["mixture"], options.get("mixture", {}))
    options = apply_changes(options, changes)
    row = load_row(str(options.get("system", "")), [])
    system = SystemConfig.read(merged(row.system.write(), options.get("changes", {})))
    training = validated("training", TrainingConfig, merged(row.training, options.get("training", {})))
    mixture = validated("mixture", MixtureConfig, options.get("mixture", {}))
    return Recipe(path.stem, system, training, mixture)


def _file(name: str) -> Path:
    path = Path(name) if name.endswith(".toml") else RECIPES / f"{name}.toml"
    if not path.is_file():
        raise ConfigError(f"recipe '{name}': there is no such recipe.{did_you_mean(name, recipe_names())}")
    return path


def _options(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
