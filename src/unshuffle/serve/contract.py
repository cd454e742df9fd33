"""What the service needs of an `Orderer`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from unshuffle.result import Coherence, Ordering, SentenceGraph
from unshuffle.steps import Steps
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document


class Reader(Protocol):
    """The part of a parser that the service calls."""

    def mentions(self, documents: Iterable[Document]) -> Iterable[Document]:
        """The same documents with the nouns in them."""
        ...


class ServedModel(Protocol):
    """The part of `Orderer` that the service calls."""

    @property
    def parser(self) -> Reader:
        """What finds the nouns; called apart from the rest so that its share of the time is seen."""
        ...

    @property
    def name(self) -> str:
        """What the model is called."""
        ...

    def card(self) -> dict[str, Any]:
        """What is to be known about the model."""
        ...

    def pieces(self, sentences: Sequence[str]) -> list[int]:
        """How many word pieces of each sentence the model reads."""
        ...

    def order_many(
        self,
        documents: Iterable[Document | Sequence[str]],
        options: OrderOptions | None = None,
        *,
        batch_size: int = 32,
    ) -> Iterator[Ordering]:
        """The best order of each document, in the order in which they came."""
        ...

    def coherence_steps(self, sentences: Sequence[str]) -> Steps[Coherence]:
        """How coherent sentences are as they stand, found in steps between which other work is done."""
        ...

    def graph(self, sentences: Sequence[str]) -> SentenceGraph:
        """Which sentences mention which entities, and which of them are linked."""
        ...
