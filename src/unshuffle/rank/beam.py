"""Beam search over orders by pair probabilities (Chen, Qiu & Huang, 2016)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unshuffle.errors import ConfigError
from unshuffle.rank.arrange import Arranged, arrange
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.ranking import CLIP, Ranking

WIDTH = 128


def by_beam(
    probability: ArrayLike,
    *,
    width: int = WIDTH,
    look_ahead: bool = False,
    constraints: Constraints | None = None,
    tie_key: ArrayLike | None = None,
    clip: float = CLIP,
) -> Ranking:
    """The best of the orders kept when each step keeps `width` prefixes by their sum of log p.

    As in the paper a prefix is judged by the pairs inside it, so a sentence put too early costs nothing until others
    follow; with `look_ahead` it is also judged by its pairs with all sentences left, which then must come later.
    """
    if width < 1:
        raise ConfigError(f"beam: width is {width}. Give at least 1.")
    task = arrange(probability, constraints, tie_key, clip)
    return task.ranking(_search(task, width, look_ahead))


def _search(task: Arranged, width: int, look_ahead: bool) -> list[int]:
    sentences = len(task)
    prefix = np.zeros((1, 0), dtype=np.intp)  # (prefixes, length)
    used = np.zeros((1, sentences), dtype=np.bool_)
    # What each sentence would add: its pairs with those before it, or with those left after it; both add up alike.
    gain = task.weight.sum(1)[None] if look_ahead else np.zeros((1, sentences))
    change = -task.weight.T if look_ahead else task.weight
    score = np.zeros(1)
    for _ in range(sentences):
        may = task.rules.allowed(used) if task.rules.bind else ~used
        reached = np.where(may, score[:, None] + gain, -np.inf).reshape(-1)
        # Stable: equal prefixes keep the order of their content labels.
        top = np.argsort(-reached, kind="stable")[: min(width, int(may.sum()))]
        parent, chosen = np.divmod(top, sentences)
        score = reached[top]
        prefix = np.column_stack([prefix[parent], chosen])
        used = used[parent]
        used[np.arange(len(top)), chosen] = True
        gain = gain[parent] + change[chosen]
    return [int(sentence) for sentence in prefix[0]]
