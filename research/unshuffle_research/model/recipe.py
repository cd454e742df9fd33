"""A recipe: a system, mixtures of text to train it on in passes, and where both come from; all in one TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unshuffle.errors import ConfigError
from unshuffle.parts.registry import did_you_mean, validated
from unshuffle.system.config import SystemConfig
from unshuffle.system.rows import apply_changes, load_row, merged
from unshuffle.training.config import TrainingConfig
from unshuffle_research import CONFIGS
from unshuffle_research.model.mixture import MixtureConfig, reshared

RECIPES = CONFIGS / "recipes"
TABLES = ("system", "changes", "training", "mixture", "shares")


@dataclass(frozen=True)
class Pass:
    """One training within a recipe: a system, and the texts it reads."""

    system: SystemConfig
    training: TrainingConfig
    mixture: MixtureConfig


@dataclass(frozen=True)
class Recipe:
    """All that decides a shipped model: passes, each of which begins with the weights of the one before."""

    name: str
    passes: tuple[Pass, ...]

    @property
    def last(self) -> Pass:
        """The pass that makes the model: its system is the model's, its sources are what the model is measured on."""
        return self.passes[-1]


def recipe_names() -> list[str]:
    """The recipes of the package."""
    return sorted(path.stem for path in RECIPES.glob("*.toml"))


def load_recipe(name: str, changes: Iterable[str] = (), passes: int | None = None) -> Recipe:
    """A recipe by name: `system` names a row of the table, `changes` are made to it.

    `mixture_of` names a recipe whose mixture it takes, `changes_of` one whose system and training it takes.

    `passes` change all that stands before them, each on its own, and `shares` the shares of the sources by name;
    the first so many are taken. What is changed by the caller is changed in every pass.
    """
    path = _file(name)
    options, changes = _options(path), list(changes)
    if other := options.pop("mixture_of", None):
        options["mixture"] = merged(_options(_file(str(other)))["mixture"], options.get("mixture", {}))
    if other := options.pop("changes_of", None):
        theirs = _options(_file(str(other)))
        options = merged({name: theirs.get(name, {}) for name in ("changes", "training")}, options)
    listed = options.pop("passes", [{}])[:passes]
    return Recipe(path.stem, tuple(_pass(path.stem, apply_changes(merged(options, each), changes)) for each in listed))


def _pass(recipe: str, options: dict[str, Any]) -> Pass:
    if unknown := sorted(set(options) - set(TABLES)):
        raise ConfigError(f"recipe '{recipe}': unknown option '{unknown[0]}'.{did_you_mean(unknown[0], TABLES)}")
    row = load_row(str(options.get("system", "")), [])
    system = SystemConfig.read(merged(row.system.write(), options.get("changes", {})))
    training = validated("training", TrainingConfig, merged(row.training, options.get("training", {})))
    mixture = validated("mixture", MixtureConfig, options.get("mixture", {}))
    return Pass(system, training, reshared(mixture, options.get("shares", {})))


def _file(name: str) -> Path:
    path = Path(name) if name.endswith(".toml") else RECIPES / f"{name}.toml"
    if not path.is_file():
        raise ConfigError(f"recipe '{name}': there is no such recipe.{did_you_mean(name, recipe_names())}")
    return path


def _options(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
