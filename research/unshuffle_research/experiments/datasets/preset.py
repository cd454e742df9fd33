"""What is known of a data set: the paper's settings for it, its sizes and checksums, where it is had."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Le

from unshuffle.errors import ConfigError
from unshuffle.parts.registry import did_you_mean, validated
from unshuffle.system.rows import Row
from unshuffle.text.document import Document
from unshuffle_research import CONFIGS

FAMILY = "se-grn"
"""In the name of every row of the paper's own family: se-grn, irse-grn, and what extends them."""
PRESETS = CONFIGS / "datasets"
SPLITS = ("train", "valid", "test")
Format = Literal["lower", "jsonl", "vist", "stories", "abstracts"]


@dataclass(frozen=True, kw_only=True)
class Form:
    """One form in which people have a data set."""

    name: str
    format: Format
    sizes: tuple[int, int, int] | None = None
    """Documents for training, validation and test; None where they depend on when the data was taken."""
    sha256: tuple[str, str, str] = ("", "", "")
    """Of the sentences of each split, see `checksum`; empty where it is not known."""
    comparable: bool = True
    """Whether figures on it may be held against the paper's."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The paper's settings for the data set (Lai et al., 5.1)."""

    noise_share: Annotated[float, Ge(0), Le(1)]
    pair_loss_weight: Annotated[float, Ge(0)]
    batch: Annotated[int, Ge(1)] = 16
    pretrained_batch: Annotated[int, Ge(1)] = 16
    """Documents a step where the sentence encoder is a pretrained transformer."""
    split: Literal["words", "spaces"] = "words"
    parser: str = "default"


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A data set of the paper, or one that stands in for it."""

    title: str
    published: str
    """Under which name the paper's tables have it."""
    about: str
    ask: str
    """Where it is had."""
    settings: Settings
    forms: tuple[Form, ...] = field(default=())

    def changes(self, row: Row, *, brings_entities: bool = True) -> list[str]:
        """The settings as changes to a row; only the paper's own family of systems takes those on graph and decoder.

        Documents that do not bring their entities are parsed, whatever the preset says of those that do.
        """
        system = row.system
        changes = [f"tokens.split={self.settings.split}"]
        if system.parser != "none" and (brings_entities or self.settings.parser != "none"):
            changes.append(f"parser={self.settings.parser}")
        if FAMILY not in row.name:
            return changes
        pretrained = system.sentence_encoder.reads_pieces
        changes.append(f"training.batch={self.settings.pretrained_batch if pretrained else self.settings.batch}")
        if system.refiner is not None:
            changes.append(f"refiner.noise_share={self.settings.noise_share}")
        if hasattr(system.decoder, "pair_loss_weight"):
            changes.append(f"decoder.pair_loss_weight={self.settings.pair_loss_weight}")
        return changes

    def form_of(self, sizes: Sequence[int], formats: Iterable[Format] | None = None) -> Form | None:
        """The form that has these sizes."""
        wanted = set(formats) if formats is not None else None
        for form in self.forms:
            if (wanted is None or form.format in wanted) and form.sizes == tuple(sizes):
                return form
        return None


def preset_names() -> list[str]:
    """The data sets there are presets for."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def load_preset(name: str) -> Preset:
    """A preset by name."""
    path = PRESETS / f"{name}.toml"
    if not path.is_file():
        raise ConfigError(f"data set '{name}': there is no preset for it.{did_you_mean(name, preset_names())}")
    preset: Preset = validated(name, Preset, tomllib.loads(path.read_text(encoding="utf-8")))
    return preset


def plain_preset(name: str) -> Preset:
    """For data of the user's own: the settings that most of the paper's sets have."""
    return Preset(
        title=name,
        published="",
        about="The user's own data.",
        ask="",
        settings=Settings(noise_share=0.15, pair_loss_weight=0.5),
    )


def checksum(documents: Iterable[Document]) -> str:
    """SHA-256 of all sentences, a JSON list a document and line, so that it is the same in every file format."""
    digest = hashlib.sha256()
    for document in documents:
        digest.update(json.dumps(list(document.sentences), ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    return digest.hexdigest()
