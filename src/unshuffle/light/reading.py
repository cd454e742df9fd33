"""Documents that were read without torch, ready for any search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unshuffle.light.pointer import EncodedBatch, PointerWeights
from unshuffle.result import Round
from unshuffle.search.beam import beam_search
from unshuffle.search.content import content_keys, content_ranks
from unshuffle.search.contracts import Floats, Found, Ints, Search
from unshuffle.search.walk import score_orders

CELLS = 2_000
"""Orders times sentences that are scored at once."""


@dataclass(frozen=True)
class LightReading:
    """Documents that were read once, ready for any search."""

    read: EncodedBatch
    decoder: PointerWeights

    def rounds(self) -> list[tuple[Round, ...]]:
        """No system with a refiner runs without torch."""
        return [()] * len(self.read.sizes)

    def search(self, search: Search) -> list[Found]:
        """The best orders of each document."""
        content = content_ranks(content_keys(self.read.encoded, self.read.states), self.read.sizes)
        return beam_search(self.decoder.memory(self.read), self.read.sizes, search, content)

    def choices(self, orders: Sequence[Sequence[int]]) -> Floats:
        """Orders of the only document -> (orders, sentences) log-probability of each of their choices."""
        memory = self.decoder.memory(self.read)
        size = int(self.read.sizes[0])
        together = max(1, CELLS // size)
        rows: Ints = np.array(orders, np.int64).reshape(-1, size)
        parts = [score_orders(memory, rows[start : start + together]) for start in range(0, len(rows), together)]
        return np.concatenate(parts) if parts else np.zeros((0, size))
