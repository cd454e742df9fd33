"""Many orders of one document, scored step by step; shared prefixes are read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshuffle.decode.contracts import Choices, Decoder
from unshuffle.decode.search.beam import ArrayMemory, TensorMemory
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.search.walk import score_orders

CELLS = 2_000
"""Orders times sentences scored at once."""


class Stepwise(Decoder):
    """A decoder that chooses one sentence after the other from what it knows of a batch."""

    def memory(self, states: States, graph: GraphBatch) -> TensorMemory[Any]:
        """Everything that does not depend on what has been chosen."""
        raise NotImplementedError

    def choices(self, states: States, graph: GraphBatch) -> Choices:
        """Scores many orders at once from one memory."""
        memory = ArrayMemory(self.memory(states, graph), graph.sizes.device)
        size = graph.sentences

        def scored(orders: Sequence[Sequence[int]]) -> NDArray[np.float64]:
            rows, together = np.zeros((len(orders), size)), max(1, CELLS // size)
            for start in range(0, len(orders), together):
                some = np.array(orders[start : start + together], np.int64)
                rows[start : start + together] = score_orders(memory, some)
            return rows

        return scored
