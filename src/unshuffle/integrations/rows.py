"""Rows of a table to outcomes, one each, which the adapters to tables share; a bad row never stops the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from unshuffle.errors import DataError, UnshuffleError
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document
from unshuffle.text.readers.source import document

if TYPE_CHECKING:
    from unshuffle.result import Ordering
    from unshuffle.system.orderer import Orderer


ONE_BEST = OrderOptions(n_best=1)
"""Tables have no room for more than the best order."""


@dataclass(frozen=True, kw_only=True)
class RowSettings:
    """How every row is ordered; small, and the same in every process."""

    model: str = "default"
    parser: str | None = None
    options: OrderOptions = ONE_BEST
    device: str = "cpu"
    longest: int = 1_000
    """Sentences; memory grows with their square, so longer documents are reported as errors."""
    threads: int = 0
    """Threads of torch in this process; 0 leaves them as they are."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a row: an order, or an error and then none of the rest."""

    order: tuple[int, ...] = ()
    """Input indices in reading order."""
    sentences: tuple[str, ...] = ()
    """The sentences in reading order."""
    confidence: float | None = None
    probability: float | None = None
    kept: bool | None = None
    warnings: tuple[str, ...] = ()
    """What speaks against relying on the order."""
    error: str | None = None


class RowOrderer:
    """Orders batches of rows; the model is loaded at the first batch and never travels between processes."""

    def __init__(self, settings: RowSettings) -> None:
        self.settings = settings

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings}

    @cached_property
    def orderer(self) -> Orderer:
        """The model of this process."""
        from unshuffle.system.orderer import Orderer

        settings = self.settings
        if settings.threads:
            import torch

            torch.set_num_threads(settings.threads)
        return Orderer.from_pretrained(settings.model, device=settings.device, parser=settings.parser)

    def outcomes(self, rows: Sequence[object]) -> list[Outcome]:
        """One outcome per row, in their order; a row is a list of sentences or what stands in its place."""
        orderer = self.orderer  # a model that cannot be loaded is no row's fault
        outcomes: dict[int, Outcome] = {}
        good: dict[int, Document] = {}
        for number, row in enumerate(rows):
            try:
                good[number] = self._document(row)
            except DataError as error:
                outcomes[number] = Outcome(error=str(error))
        try:
            found: Iterable[Ordering | None] = self._ordered(orderer, list(good.values()))
        except Exception:  # one of them; which one is found out alone, below
            found = [None] * len(good)
        for (number, text), ordering in zip(good.items(), found, strict=True):
            outcomes[number] = _outcome(ordering) if ordering is not None else self._alone(orderer, text)
        return [outcomes[number] for number in range(len(rows))]

    def _document(self, row: object) -> Document:
        if hasattr(row, "tolist"):  # an array, as pandas and Ray give
            row = row.tolist()
        found = document("row", row, None, "")
        if len(found.sentences) > self.settings.longest:
            counted = f"{len(found.sentences)} sentences, and {self.settings.longest} are allowed"
            raise DataError(f"row: it has {counted}. Cut the document or allow more.")
        return found

    def _alone(self, orderer: Orderer, text: Document) -> Outcome:
        try:
            return _outcome(self._ordered(orderer, [text])[0])
        except UnshuffleError as error:
            return Outcome(error=str(error))
        except Exception as error:  # reported in the row's own error, and the next row is tried
            reason = (str(error).splitlines() or [""])[0][:200]
            return Outcome(error=f"row: it could not be ordered ({type(error).__name__}: {reason}). Look at its text.")

    def _ordered(self, orderer: Orderer, texts: list[Document]) -> list[Ordering]:
        return list(orderer.order_many(texts, self.settings.options))


def _outcome(ordering: Ordering) -> Outcome:
    return Outcome(
        order=ordering.order,
        sentences=ordering.sentences,
        confidence=ordering.confidence,
        probability=ordering.probability,
        kept=ordering.kept,
        warnings=ordering.warnings,
    )
