"""Topological sort of the pair decisions (Prabhumoye et al., 2020), its cycles cut at their weakest edges."""

from __future__ import annotations

from graphlib import TopologicalSorter
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import ArrayLike

from unshuffle.rank.arrange import arrange
from unshuffle.rank.borda import row_sums
from unshuffle.rank.constraints import Constraints
from unshuffle.rank.ranking import BoolArray, FloatArray, Ranking


def widest_paths(strength: FloatArray) -> FloatArray:
    """(n, n) for each pair the best chain's weakest edge, by Floyd and Warshall; 0 where no chain leads."""
    widest = strength.copy()
    np.fill_diagonal(widest, 0.0)
    for middle in range(len(widest)):
        np.maximum(widest, np.minimum(widest[:, middle, None], widest[middle]), out=widest)
    return widest


def by_topology(
    probability: ArrayLike, *, constraints: Constraints | None = None, tie_key: ArrayLike | None = None
) -> Ranking:
    """The decisions p > 1/2 as a graph without cycles; of the sentences that are free, the highest row sum first."""
    task = arrange(probability, constraints, tie_key)
    edges = acyclic_edges(np.maximum(task.probability - task.probability.T, 0.0))
    return task.ranking(task.rules.nearest(_sorted(edges, row_sums(task.probability))))


def acyclic_edges(strength: FloatArray) -> BoolArray:
    """The edges left when the weakest of each strong component goes until none has a cycle; equals go together.

    An edge goes exactly if its ends are still in one component when all weaker ones are gone, that is if a way back
    uses only edges no weaker than itself; so one table of widest paths decides all edges at once.
    """
    return strength > widest_paths(strength).T


def _sorted(edges: BoolArray, priority: FloatArray) -> list[int]:
    waits_for = {target: np.flatnonzero(edges[:, target]).tolist() for target in range(len(edges))}
    sorter = TopologicalSorter(waits_for)
    sorter.prepare()
    free = [(-priority[sentence], sentence) for sentence in sorter.get_ready()]
    heapify(free)
    order: list[int] = []
    while free:
        order.append(heappop(free)[1])
        sorter.done(order[-1])
        for sentence in sorter.get_ready():
            heappush(free, (-priority[sentence], sentence))
    return order
