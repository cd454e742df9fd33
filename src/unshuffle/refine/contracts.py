"""What a refiner gives: link weights, and how they came about."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class RoundTrace:
    """Weights of all pairs after a round, and which are still undecided."""

    weights: Tensor  # (pairs,)
    undecided: Tensor  # (pairs,)
    active: Tensor  # (documents,) whether the round changed this document's weights


@dataclass(frozen=True, slots=True)
class Refined:
    """The final link weights and how they came about."""

    weights: Tensor  # (pairs,)
    predicted: Tensor  # (pairs,) last probability of each pair, decided or not
    rounds: tuple[RoundTrace, ...]
