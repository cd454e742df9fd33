"""Retrieved chunks in reading order, which the adapters to retrieval libraries share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from unshuffle.errors import ConfigError, DataError
from unshuffle.rank.constraints import Constraints
from unshuffle.system.options import OrderKeywords
from unshuffle.system.orderer import Orderer


@dataclass(frozen=True, kw_only=True)
class ChunkSettings:
    """How chunks are ordered, and where their metadata tells what is known of the order."""

    model: str = "default"
    source_key: str | None = None
    """Metadata entry that names a chunk's source; chunks of one source keep the order in which they come."""
    position_key: str | None = None
    """Metadata entry, such as a page, by which the chunks of one source are sorted instead."""
    options: OrderKeywords = field(default_factory=OrderKeywords)
    """Those of `Orderer.order`, handed on as they are."""

    def __post_init__(self) -> None:
        if self.position_key is not None and self.source_key is None:
            raise ConfigError("position_key: positions count within a source. Give source_key as well.")
        if self.source_key is not None and self.options.get("constraints") is not None:
            raise ConfigError("source_key: it is a constraint of its own. Give it or constraints, not both.")


class ChunkOrderer:
    """Says in which order chunks read best; loads the model once."""

    def __init__(self, settings: ChunkSettings) -> None:
        self.settings = settings
        self._orderer = Orderer.from_pretrained(settings.model)

    def order(self, texts: Sequence[str | None], metadata: Sequence[Mapping[str, Any] | None]) -> list[int]:
        """Indices of the chunks in reading order; those without text come last."""
        settings = self.settings
        given = [index for index, text in enumerate(texts) if text and text.strip()]
        rest = [index for index in range(len(texts)) if index not in set(given)]
        if len(given) < 2:
            return [*given, *rest]
        options: dict[str, Any] = dict(settings.options)
        if settings.source_key is not None:
            sources = [_entry(metadata[index], settings.source_key) for index in given]
            if settings.position_key is not None:
                positions = [_entry(metadata[index], settings.position_key) for index in given]
                given, sources = _sorted_within(given, sources, positions)
            options["constraints"] = Constraints(within_source=sources)
        elif isinstance(known := options.get("constraints"), Constraints):
            options["constraints"] = _renumbered(known, given, len(texts))
        found = self._orderer.order([str(texts[index]) for index in given], **options)
        return [*(given[index] for index in found.order), *rest]


def _renumbered(known: Constraints, given: list[int], chunks: int) -> Constraints:
    """The constraints of all chunks for those that have text; what is said of the others is void, they come last."""
    new = {old: place for place, old in enumerate(given)}
    blank = set(range(chunks)) - set(new)
    sources = known.within_source
    return Constraints(
        before=[(new.get(one, one), new.get(other, other)) for one, other in known.before if not {one, other} & blank],
        fixed=[(place, new.get(chunk, chunk)) for place, chunk in known.fixed if chunk not in blank],
        within_source=[sources[old] for old in given] if len(sources) == chunks else sources,
    )


def _entry(metadata: Mapping[str, Any] | None, key: str) -> Any:
    value = (metadata or {}).get(key)
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _sorted_within(given: list[int], sources: list[Any], positions: list[Any]) -> tuple[list[int], list[Any]]:
    """The chunks of each source sorted by position in the slots that the source has; one without position is free."""
    sources = [None if position is None else source for source, position in zip(sources, positions, strict=True)]
    arranged = list(given)
    for source in {source for source in sources if source is not None}:
        slots = [slot for slot, own in enumerate(sources) if own == source]
        try:
            by_position = sorted(slots, key=positions.__getitem__)
        except TypeError:
            raise DataError(f"source {source}: its positions are of several types. Give numbers or text.") from None
        for slot, taken in zip(slots, by_position, strict=True):
            arranged[slot] = given[taken]
    return arranged, sources
