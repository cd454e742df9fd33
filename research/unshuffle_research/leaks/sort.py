"""The topological sort of released pairwise programs, whose vertices are numbered by the true order.

A depth-first search starts at vertex 0, the true first sentence, and takes neighbours by number. Where it meets a
vertex that is still on its way, the edge that closes the cycle is dropped; that is an edge that points back to a
sentence which truly comes early. Numbered at random, the same sort knows nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Decisions = NDArray[np.bool_]
"""(sentences, sentences): whether the row's sentence is said to come before the column's."""


def indexed_sort(before: Decisions) -> list[int]:
    """Reverse order of leaving, searching from the lowest number on; edges back into the search are dropped."""
    size = len(before)
    state = [0] * size  # 0 not seen, 1 on the way, 2 left
    left: list[int] = []

    def visit(vertex: int) -> None:
        state[vertex] = 1
        for other in range(size):
            if before[vertex, other] and state[other] == 0:
                visit(other)
        state[vertex] = 2
        left.append(vertex)

    for vertex in range(size):
        if state[vertex] == 0:
            visit(vertex)
    return left[::-1]


def sorted_as(before: Decisions, numbering: Sequence[int]) -> list[int]:
    """The same sort with vertex k standing for sentence `numbering[k]`; the order in terms of sentences."""
    positions = np.asarray(numbering)
    return [int(positions[vertex]) for vertex in indexed_sort(before[np.ix_(positions, positions)])]


def coin_flips(size: int, draw: np.random.Generator) -> Decisions:
    """A decision for each pair that has nothing to do with the text."""
    upper = np.triu(draw.random((size, size)) < 0.5, 1)
    return upper | np.triu(~upper, 1).T
