"""A system is a row of configuration: one part for each slot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import unshuffle.decode
import unshuffle.encoders  # noqa: F401  (both imports register the parts)
from unshuffle.decode.contracts import decoders
from unshuffle.encoders.contracts import SentenceEncoderConfig, paragraph_encoders, sentence_encoders
from unshuffle.errors import ConfigError
from unshuffle.graph.build import GraphConfig
from unshuffle.parts.registry import PartConfig, did_you_mean, validated
from unshuffle.refine.iterative import IterativeConfig
from unshuffle.text.tokens import TokensConfig

SLOTS = ("sentence_encoder", "paragraph_encoder", "decoder")
RENAMED = {
    "sentence_encoder": {"apart": "between_bias"},
    "refiner": {"lessons": "learns_from"},
    "decoder": {"places": "position_codes"},
}
"""Options that once had another name, which model folders, results and checkpoints may still use."""


@dataclass(frozen=True, kw_only=True)
class SystemConfig:
    """Everything that decides what a network is made of and what it reads."""

    sentence_encoder: SentenceEncoderConfig
    paragraph_encoder: PartConfig
    decoder: PartConfig
    refiner: IterativeConfig | None = None
    graph: GraphConfig = field(default_factory=GraphConfig)
    tokens: TokensConfig = field(default_factory=TokensConfig)
    parser: str = "default"
    """Which parser finds the nouns: `default`, `none`, or an installed spaCy model."""
    judged: bool = False
    """Whether link weights are a judge's answers: the ordering model learns to trust them by their value."""

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> SystemConfig:
        """From plain nested options, as in TOML or JSON; what is wrong is named with its place."""
        known = list(cls.__dataclass_fields__)
        for name in options:
            if name not in known:
                raise ConfigError(f"{name}: there is no such part of a system.{did_you_mean(name, known)}")
        for slot in SLOTS:
            if slot not in options:
                raise ConfigError(f"{slot}: it is missing. Every system needs one.")
        for name in {*options} - {"parser", "judged"}:
            if not isinstance(options[name], Mapping):
                raise ConfigError(f"{name}: expected a table of options, found {options[name]!r}.")
        parser = options.get("parser", "default")
        if not isinstance(parser, str):
            raise ConfigError(f"parser: expected a name, found {parser!r}.")
        options = _with_names(options, RENAMED)
        refiner = options.get("refiner")
        judged = options.get("judged", False)
        if not isinstance(judged, bool) or (judged and refiner is not None):
            raise ConfigError("judged: expected true or false, and true only where there is no refiner.")
        return cls(
            sentence_encoder=sentence_encoders.read(dict(options["sentence_encoder"])),
            paragraph_encoder=paragraph_encoders.read(dict(options["paragraph_encoder"])),
            decoder=decoders.read(dict(options["decoder"])),
            refiner=validated("refiner", IterativeConfig, dict(refiner)) if refiner is not None else None,
            graph=validated("graph", GraphConfig, dict(options.get("graph", {}))),
            tokens=validated("tokens", TokensConfig, dict(options.get("tokens", {}))),
            parser=parser,
            judged=judged,
        )

    def resolved(self) -> SystemConfig:
        """The same with the architectures of pretrained parts filled in from their sources."""
        return replace(self, **{slot: part.resolved() for slot, part in self.parts().items()})

    def detached(self) -> SystemConfig:
        """The same without sources, as a model folder that holds all weights should keep it."""
        return replace(self, **{slot: part.detached() for slot, part in self.parts().items()})

    def parts(self) -> dict[str, Any]:
        """The configuration of the part in each slot."""
        return {slot: getattr(self, slot) for slot in SLOTS}

    def with_former_names(self) -> dict[str, Any]:
        """As `write`, the options under the names they once had, so that stages trained before are found again."""
        former = {part: {new: old for old, new in names.items()} for part, names in RENAMED.items()}
        return _with_names(self.write(), former)

    def write(self) -> dict[str, Any]:
        """The reverse of `read`."""
        options: dict[str, Any] = {
            "sentence_encoder": sentence_encoders.write(self.sentence_encoder),
            "paragraph_encoder": paragraph_encoders.write(self.paragraph_encoder),
            "decoder": decoders.write(self.decoder),
            "graph": asdict(self.graph),
            "tokens": asdict(self.tokens),
            "parser": self.parser,
        }
        if self.judged:  # left out elsewhere, so that what was trained before has the same fingerprint
            options["judged"] = True
        if self.refiner is not None:
            options["refiner"] = asdict(self.refiner)
        return options


def _with_names(options: Mapping[str, Any], names: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """The options of a system, some of them under another name, in the same order."""
    return {
        part: {names[part].get(name, name): value for name, value in table.items()}
        if part in names and table
        else table
        for part, table in options.items()
    }
