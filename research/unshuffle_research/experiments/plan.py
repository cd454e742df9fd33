"""What is to be trained: a system, what is changed in it, a data set, a seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from unshuffle.errors import ConfigError
from unshuffle.machine import Precision
from unshuffle.parts.registry import validated
from unshuffle.seeds import derived
from unshuffle.storage.files import read_json
from unshuffle.system.config import SystemConfig
from unshuffle.system.rows import load_row
from unshuffle.text.document import Document
from unshuffle.training.config import TrainingConfig
from unshuffle.training.corpus import Splits, read_splits
from unshuffle_research.experiments.datasets.preset import (
    SPLITS,
    Format,
    Preset,
    checksum,
    load_preset,
    plain_preset,
    preset_names,
)

OWN_DATA = "the paper's own data"
PRECISION = "precision="
"""A change that decides how a row computes in training, not what it is made of."""


@dataclass(frozen=True)
class Dataset:
    """Documents with what is known of them."""

    name: str
    preset: Preset
    splits: Splits
    whole: bool = True
    """Whether no document was left out."""

    @cached_property
    def brings_entities(self) -> bool:
        """Whether its files, as those in the authors' layout do, name entities and roles, so that nothing is parsed."""
        return all(document.mentions is not None for name in SPLITS for document in getattr(self.splits, name))

    @cached_property
    def comparable(self) -> bool:
        """Whether these are the paper's own documents: the sizes of its splits, and the checksums where known."""
        parts = [getattr(self.splits, name) for name in SPLITS]
        # The same texts without entities and roles are not the same data.
        formats: tuple[Format, ...] = ("lower",) if self.brings_entities else ("jsonl", "vist", "stories", "abstracts")
        form = self.preset.form_of([len(part) for part in parts], formats)
        if not self.whole or form is None or not form.comparable or not self.preset.published:
            return False
        return all(not sha or sha == checksum(part) for sha, part in zip(form.sha256, parts, strict=True))

    @property
    def sizes(self) -> dict[str, int]:
        """Documents by split."""
        return {name: len(getattr(self.splits, name)) for name in SPLITS}

    @property
    def described(self) -> str:
        """One line for tables and pages."""
        sizes = " / ".join(f"{size:,}" for size in self.sizes.values())
        kind = OWN_DATA if self.comparable else "not the paper's data"
        return f"{self.preset.title}, {sizes} documents ({kind})"


def open_dataset(given: str, *, documents: int = 0, held_out: int = 0) -> Dataset:
    """`NAME=FOLDER`, or a folder whose `dataset.json` or own name says which data set it is."""
    name, equals, path = given.partition("=")
    folder = Path(path if equals else given)
    if not folder.is_dir():
        raise ConfigError(f"--data {given}: there is no such folder. Give NAME=FOLDER; prepare makes such folders.")
    if not equals:
        known = folder / "dataset.json"
        name = str(read_json(known).get("name", folder.name)) if known.is_file() else folder.resolve().name
    preset = load_preset(name) if name in preset_names() else plain_preset(name)
    full = read_splits(folder)
    if not full.test:
        raise ConfigError(f"--data {given}: there is no test file. An experiment needs one.")
    cut = Splits(_some(full.train, documents), _some(full.valid, held_out), _some(full.test, held_out))
    return Dataset(name, preset, cut, whole=cut == full)


def _some(documents: tuple[Document, ...], most: int) -> tuple[Document, ...]:
    """So many documents, drawn once and for all; 0 takes all."""
    if not most or most >= len(documents):
        return documents
    chosen = np.random.default_rng(derived(1, "subset")).permutation(len(documents))[:most]
    return tuple(documents[number] for number in sorted(chosen))


@dataclass(frozen=True)
class Plan:
    """One training."""

    row: str
    """How tables name it."""
    system: str
    dataset: Dataset
    seed: int = 1
    changes: tuple[str, ...] = ()
    title: str = ""

    @cached_property
    def config(self) -> SystemConfig:
        """What the network is made of, the data set's settings applied before the changes."""
        return load_row(self.system, self._all_changes).system

    @cached_property
    def training(self) -> TrainingConfig:
        """How it is trained."""
        training: TrainingConfig = validated(
            "training", TrainingConfig, load_row(self.system, self._all_changes).training
        )
        return training

    @property
    def _all_changes(self) -> list[str]:
        own = [change for change in self.changes if not change.startswith(PRECISION)]
        row, known = load_row(self.system), self.dataset.brings_entities
        return [*self.dataset.preset.changes(row, brings_entities=known), *own]

    @property
    def precision(self) -> Precision:
        """In which it is trained; single unless a change says otherwise."""
        said = [change.removeprefix(PRECISION) for change in self.changes if change.startswith(PRECISION)]
        if said and said[-1] not in ("32", "bf16"):
            raise ConfigError(f"--set {PRECISION}{said[-1]}: there is no such precision. Say 32 or bf16.")
        return "bf16" if said and said[-1] == "bf16" else "32"

    @property
    def label(self) -> str:
        """What the row is called in tables."""
        return self.title or load_row(self.system).about.title

    @cached_property
    def fingerprint(self) -> str:
        """What tells its model from all others."""
        return fingerprint(self.config, self.training, self.dataset.splits.hash, self.seed, self.precision)

    @property
    def key(self) -> str:
        """Data set, system, seed and fingerprint.

        Not the row: the full model of an ablation is the same as the one of the main table.
        """
        return f"{self.dataset.name}-{self.system}-{self.seed}-{self.fingerprint}"


def fingerprint(
    config: SystemConfig, training: TrainingConfig, data_hash: str, seed: int, precision: str = "32"
) -> str:
    """A hash of all that decides a model but the time it may take."""
    timeless = asdict(replace(training, minutes=0, classifier_minutes=0, checkpoint_minutes=1))
    decides = [config.write(), timeless, data_hash, seed, *([precision] if precision != "32" else [])]
    return hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).hexdigest()[:10]


def plans_for(
    systems: Iterable[str], dataset: Dataset, seeds: Sequence[int], changes: Iterable[str] = ()
) -> list[Plan]:
    """Every system with every seed; all systems of a seed before the next, so that a cut run has whole seeds."""
    given = list(changes)
    return [Plan(system, system, dataset, seed, changes_of(system, given)) for seed in seeds for system in systems]


def changes_of(row: str, changes: Iterable[str]) -> tuple[str, ...]:
    """Those changes that are meant for a row: all without a name before a colon, and those under its own name."""
    chosen = []
    for change in changes:
        name, colon, rest = change.partition(":")
        if colon and "=" not in name:
            chosen += [rest] if name == row else []
        else:
            chosen.append(change)
    return tuple(chosen)
