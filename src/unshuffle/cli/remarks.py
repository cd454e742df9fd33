"""What `unshuffle order` says on stderr about its answers: how sure they are, and what speaks against them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unshuffle.result import Ordering


class Remarks:
    """Passes orderings on and keeps what is worth saying of them afterwards."""

    def __init__(self, orderings: Iterable[Ordering], *, watched: bool) -> None:
        self._orderings = orderings
        self._watched = watched
        self._last: Ordering | None = None
        self._documents = self._ordered = self._unsure = self._doubted = 0
        self._confidence = 0.0
        self._doubt = ""

    def __iter__(self) -> Iterator[Ordering]:
        for ordering in self._orderings:
            self._add(ordering)
            yield ordering

    def lines(self) -> Iterator[str]:
        """What speaks against the answers and, where somebody is watching, how sure they are."""
        if self._doubt:
            yield f"unshuffle: {self._doubt}"
        if self._doubted > 1:
            yield f"unshuffle: {self._doubted} documents give such reasons not to rely on their order."
        if not self._watched or self._last is None:
            return
        if self._documents == 1:
            number = f" Confidence {self._last.confidence:.2f}." if self._ordered else ""
            yield f"({self._last.headline}{number})"
        elif self._ordered:
            mean = self._confidence / self._ordered
            yield f"({self._documents} documents, mean confidence {mean:.2f}, unsure of {self._unsure or 'none'}.)"

    def _add(self, ordering: Ordering) -> None:
        from unshuffle.system.warning import other_doubts  # of the language is told where documents are read

        self._last = ordering
        self._documents += 1
        if found := other_doubts(ordering.given):
            self._doubt = self._doubt or f"document '{ordering.id}': {found[0]}"
            self._doubted += 1
        if self._watched and len(ordering) > 1:
            self._ordered += 1
            self._confidence += ordering.confidence
            self._unsure += ordering.headline.level == "unsure"
