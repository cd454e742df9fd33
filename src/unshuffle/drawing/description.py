"""The sentence-entity graph as a plain description that every picture of it is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from unshuffle.result import Ordering, Round, SentenceGraph


@dataclass(frozen=True, slots=True)
class LinkDrawn:
    """Two linked sentences and the chance that the first comes first, before and after refinement."""

    first: int
    second: int
    before: float | None = None
    """After the initial classifier; None where the system has no refiner."""
    after: float | None = None
    undecided_before: bool = False
    undecided_after: bool = False


@dataclass(frozen=True, slots=True)
class MentionDrawn:
    """A sentence that mentions an entity."""

    entity: int
    sentence: int
    role: str
    """Subject, object or other."""


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """All that a picture shows; sentences and entities by number."""

    title: str
    sentences: tuple[str, ...]
    order: tuple[int, ...]
    """Sentence numbers in reading order, from top to bottom of the picture."""
    entities: tuple[str, ...]
    mentions: tuple[MentionDrawn, ...]
    links: tuple[LinkDrawn, ...]
    relations: tuple[tuple[int, int], ...]
    rounds: int
    """Rounds of refinement, the initial classifier's included; 0 where the system has no refiner."""

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


def describe(sentences: Sequence[str], graph: SentenceGraph, ordering: Ordering) -> GraphDrawing:
    """The graph of a document with the link weights that led to its order."""
    first, last = (ordering.rounds[0], ordering.rounds[-1]) if ordering.rounds else (None, None)
    before, open_before = _weights(first)
    after, open_after = _weights(last)
    return GraphDrawing(
        title=ordering.id,
        sentences=tuple(sentences),
        order=ordering.order,
        entities=graph.entities,
        mentions=tuple(MentionDrawn(*mention) for mention in graph.mentions),
        links=tuple(
            LinkDrawn(*pair, before.get(pair), after.get(pair), pair in open_before, pair in open_after)
            for pair in graph.links
        ),
        relations=graph.relations,
        rounds=len(ordering.rounds),
    )


def _weights(step: Round | None) -> tuple[dict[tuple[int, int], float], set[tuple[int, int]]]:
    if step is None:
        return {}, set()
    return {(pair.first, pair.second): pair.probability for pair in step.weights}, set(step.undecided)
