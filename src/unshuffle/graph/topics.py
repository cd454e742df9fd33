"""Topic vectors of sentences, for systems that match neighbours by topic (Oh et al., 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class TopicModel(Protocol):
    """Gives each sentence a distribution over topics."""

    def of(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """(sentences, topics), rows add up to 1."""
        ...
