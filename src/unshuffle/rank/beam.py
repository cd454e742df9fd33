"""Beam search over orders by pair probabilities (Chen, Qiu & Huang, 2016)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unshuffle.errors import ConfigError
from unshuffle.rank.arrange import Arranged, arrange
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.ranking import Ranking

WIDTH = 128


def by_beam(
    probability: ArrayLike,
    *,
    width: int = WIDTH,
    constraints: Constraints | None = None,
    tie_key: ArrayLike | None = None,
) -> Ranking:
    """The best of the orders kept when each step keeps `width` prefixes by their sum of log p.

    As in the paper, a prefix is judged by the pairs inside it, so a sentence placed too early costs nothing until
    others follow.
    """
    if width < 1:
        raise ConfigError(f"beam: width is {width}. Give at least 1.")
    task = arrange(probability, constraints, tie_key)
    return task.ranking(_search(task, width))


def _search(task: Arranged, width: int) -> list[int]:
    sentences = len(task)
    prefix = np.zeros((1, 0), dtype=np.intp)  # (prefixes, length)
    used = np.zeros((1, sentences), dtype=np.bool_)
    gain = np.zeros((1, sentences))  # what each sentence would add: its pairs with those before it
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
        gain = gain[parent] + task.weight[chosen]
    return [int(sentence) for sentence in prefix[0]]
