"""Arrangements that are far from the solution."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import pairwise, permutations

from unshuffle.errors import ConfigError

DRAWN = 64
"""Arrangements drawn for each one that is wanted; the best of them are taken."""
ALL_UP_TO = 5
"""Sentences up to which all arrangements are looked at."""


def arrangements(size: int) -> float:
    """How many arrangements are more than a swap from the solution; without bound where not all are looked at."""
    return math.factorial(size) - 1 - math.comb(size, 2) if size <= ALL_UP_TO else math.inf


def scrambles(size: int, seed: int, count: int = 1) -> tuple[tuple[int, ...], ...]:
    """Different arrangements, none of them the solution or one swap from it; the same for the same seed.

    Those that leave the fewest neighbours together and the fewest sentences in their place come first.
    """
    possible = arrangements(size)
    if count > possible:
        raise ConfigError(
            f"exercise: {size} sentences have only {possible} arrangements far enough from the solution. "
            f"Ask for at most {possible}."
        )
    chance = random.Random(f"{seed}:{size}")
    if size <= ALL_UP_TO:
        drawn = list(permutations(range(size)))
        chance.shuffle(drawn)
    else:
        drawn = list(dict.fromkeys(tuple(chance.sample(range(size), size)) for _ in range(DRAWN * count)))
    return tuple(sorted(filter(_is_far, drawn), key=_left_in_order)[:count])


def _is_far(order: Sequence[int]) -> bool:
    """Whether more than one swap of two sentences leads to the solution."""
    return sum(position != item for position, item in enumerate(order)) > 2


def _left_in_order(order: Sequence[int]) -> tuple[int, int]:
    neighbours = sum(second == first + 1 for first, second in pairwise(order))
    return neighbours, sum(position == item for position, item in enumerate(order))
