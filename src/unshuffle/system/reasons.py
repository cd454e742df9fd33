"""The pairs that speak for an order, and what their sentences have in common."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from itertools import pairwise

import numpy as np

from unshuffle.graph.build import Graph
from unshuffle.result import PairProbability, Reason

MOST = 5
"""Reasons that are given."""
SPEAKS = 0.5
"""A pair speaks for an order from above this probability on."""


def reasons(
    order: Sequence[int], pairs: Sequence[PairProbability], graph: Graph, most: int = MOST
) -> tuple[Reason, ...]:
    """The strongest of the given pairs, each as the order has it, strongest first.

    Looked at are neighbours in the order and the surest other pairs. Among pairs about as sure, to a tenth, those come
    first that share more entities, then those that stand closer together.
    """
    position = np.argsort(order).tolist()
    held = {}
    for pair in pairs:
        turned = position[pair.first] > position[pair.second]
        one, other = (pair.second, pair.first) if turned else (pair.first, pair.second)
        held[one, other] = 1 - pair.probability if turned else pair.probability
    mentioned = entities_by_sentence(graph)

    def strength(pair: tuple[int, int]) -> tuple[float, int, int, int]:
        one, other = pair
        common = len(mentioned[one] & mentioned[other])
        return -round(held[pair], 1), -common, position[other] - position[one], position[one]

    looked_at = {*(held.keys() & set(pairwise(order))), *nsmallest(most, held, key=strength)}
    strongest = nsmallest(most, (pair for pair in looked_at if held[pair] > SPEAKS), key=strength)
    return tuple(
        Reason(one, other, held[one, other], tuple(sorted(mentioned[one] & mentioned[other])))
        for one, other in strongest
    )


def entities_by_sentence(graph: Graph) -> list[set[str]]:
    """The entities that each sentence mentions."""
    mentioned: list[set[str]] = [set() for _ in range(graph.sentences)]
    for entity, sentence in graph.mentions.T.tolist():
        mentioned[sentence].add(graph.words[entity])
    return mentioned
