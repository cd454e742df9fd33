"""What an `Orderer` needs of a model, whichever runtime computes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from unshuffle.graph.prepare import Item, Preparer
from unshuffle.result import Round
from unshuffle.search.contracts import Floats, Found, Search

if TYPE_CHECKING:
    from unshuffle.system.config import SystemConfig
    from unshuffle.system.network import Network


class Reading(Protocol):
    """Documents that a model has read once, ready for any search."""

    def rounds(self) -> list[tuple[Round, ...]]:
        """Each document's rounds of refinement; none where the system has no refiner."""
        ...

    def search(self, search: Search) -> list[Found]:
        """The best orders of each document."""
        ...

    def choices(self, orders: Sequence[Sequence[int]]) -> Floats:
        """Orders of the only document -> (orders, sentences) log-probability of each of their choices."""
        ...


class OrderingModel(Protocol):
    """A model that reads documents and finds orders."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def card(self) -> str:
        """Its README."""
        ...

    @property
    def calibration(self) -> dict[str, Any] | None:
        """How its confidence is calibrated, as in `calibration.json`."""
        ...

    @property
    def parser(self) -> Mapping[str, str]:
        """Name and fingerprint of the parser it was trained with."""
        ...

    @property
    def wanted_parser(self) -> str:
        """The parser that its configuration names."""
        ...

    @property
    def longest(self) -> int:
        """Word pieces of a sentence that it reads."""
        ...

    @property
    def large(self) -> bool:
        """Whether its products are large enough for several threads to pay."""
        ...

    @property
    def judged(self) -> bool:
        """Whether it was trained to read a judge's answers as link weights."""
        ...

    @property
    def preparer(self) -> Preparer:
        """What turns documents into items."""
        ...

    @property
    def config(self) -> SystemConfig:
        """The system; needs torch."""
        ...

    @property
    def network(self) -> Network:
        """The torch module; needs torch."""
        ...

    def description(self) -> dict[str, Any]:
        """The system as plain options, and how many parameters it has."""
        ...

    def read(self, items: Sequence[Item]) -> Reading:
        """Everything up to the search."""
        ...
