"""Results of earlier calls, read back: a table can be made again where the models behind it are gone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from unshuffle.errors import ConfigError
from unshuffle.parts.registry import validated
from unshuffle.storage.files import read_json
from unshuffle.system.config import SystemConfig
from unshuffle.training.config import TrainingConfig
from unshuffle_research.experiments.plan import Plan, fingerprint

NEEDED = {"config", "data_hash", "seed", "trained", "stages", "parameters", "test", "valid", "beam"}
ORDERS, PAIRS = ".orders.jsonl.gz", ".pairs.jsonl.gz"


@dataclass(frozen=True)
class Kept:
    """What a call wrote of one model."""

    path: Path
    said: dict[str, Any]

    @property
    def orders(self) -> Path:
        """The test orders beside it."""
        return self.path.with_suffix(ORDERS)

    @property
    def pairs(self) -> Path:
        """What its classifiers said of linked test pairs; only experiments that ask them write it."""
        return self.path.with_suffix(PAIRS)


@dataclass(frozen=True)
class Results:
    """A folder of results, as far as they were measured with so many shuffles and such a beam."""

    folder: Path
    experiment: str
    """Its own results come before those of others."""
    shuffles: int
    beam: int

    def find(self, plan: Plan) -> Kept | None:
        """What is left of a model with the same settings, data and seed."""
        return self._known.get(plan.fingerprint)

    @cached_property
    def _known(self) -> dict[str, Kept]:
        found: dict[str, Kept] = {}
        for path in sorted(self.folder.glob("*/*.json"), key=lambda path: (path.parent.name != self.experiment, path)):
            said = read_json(path)
            if not isinstance(said, dict) or not said.keys() >= NEEDED:
                continue
            kept = Kept(path, said)
            if kept.orders.is_file() and (said["test"]["shuffles"], said["beam"]) == (self.shuffles, self.beam):
                found.setdefault(_fingerprint(said), kept)
        return found


def _fingerprint(said: dict[str, Any]) -> str:
    """That of the model behind a result; options that came later count as what they are by default."""
    try:
        config = SystemConfig.read(said["config"]["system"])
        training: TrainingConfig = validated("training", TrainingConfig, said["config"]["training"])
    except ConfigError:  # options that are there no more
        return ""
    return fingerprint(config, training, said["data_hash"], said["seed"], said.get("precision", "32"))
