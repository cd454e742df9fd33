"""Local search: move the sentence whose new position gains most, as long as any move gains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unshuffle.rank.constraints import Rules
from unshuffle.rank.ranking import BoolArray, FloatArray, IntArray

LEAST = 1e-10
"""Smaller gains are rounding errors and could cycle forever."""


def improved(weight: FloatArray, order: Sequence[int], rules: Rules) -> list[int]:
    """An order that no allowed single move improves; where positions are fixed, exchanges are tried too."""
    best = np.array(order, dtype=np.intp)
    if len(best) < 2:
        return list(order)
    prefer = weight - weight.T  # what row before column gains over column before row
    need = rules.required.astype(np.float64) - rules.required.T
    crossing = _crosses_anchor(rules.anchored)
    ends = rules.anchored[:, None] | rules.anchored
    while True:
        here = np.ix_(best, best)
        gain = _moves(prefer[here])
        if rules.bind:
            gain[(_moves(need[here]) < 0) | crossing] = -np.inf
        source, target = divmod(int(gain.argmax()), len(best))
        if gain[source, target] > LEAST:
            best = np.insert(np.delete(best, source), target, best[source])
            continue
        if not rules.anchored.any():
            return [int(sentence) for sentence in best]
        gain = _exchanges(prefer[here])
        gain[_broken(need[here]) | ends] = -np.inf
        source, target = divmod(int(gain.argmax()), len(best))
        if gain[source, target] <= LEAST:
            return [int(sentence) for sentence in best]
        best[[source, target]] = best[[target, source]]


def _moves(prefer: FloatArray) -> FloatArray:
    """(from, to) what moving a sentence to another position gains; `prefer` is arranged in the current order."""
    passed = np.cumsum(prefer, axis=1)
    own = np.diag(passed)[:, None]  # the diagonal of prefer is 0, so its own position adds nothing
    later = own - passed
    earlier = own - passed + prefer
    return np.where(np.tri(len(prefer), dtype=np.bool_), earlier, later)


def _exchanges(prefer: FloatArray) -> FloatArray:
    """(earlier, later) what exchanging two sentences gains; zero below the diagonal."""
    along = np.cumsum(prefer, axis=1)
    own = np.diag(along)
    # Both pass everything between them, and each other once.
    earlier_passes = along - own[:, None]  # (earlier, later) including the later one
    later_passes = own - along.T  # (earlier, later) excluding the earlier one
    return np.triu(later_passes - earlier_passes, 1)


def _broken(need: FloatArray) -> BoolArray:
    """(earlier, later) whether an exchange puts a sentence before one it waits for."""
    needed, waits = np.cumsum(need > 0, axis=1), np.cumsum(need < 0, axis=1)
    own_needed, own_waits = np.diag(needed), np.diag(waits)
    passed: IntArray = (needed - own_needed[:, None]) + (own_waits - waits.T)
    return (passed > 0) | np.tri(len(need), dtype=np.bool_)


def _crosses_anchor(anchored: BoolArray) -> BoolArray:
    """(from, to) whether a fixed position lies on the way, which the move would shift."""
    until: IntArray = np.cumsum(anchored)
    before: IntArray = until - anchored
    between: BoolArray = np.maximum(until[:, None], until) > np.minimum(before[:, None], before)
    return between
