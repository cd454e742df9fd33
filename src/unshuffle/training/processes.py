"""Several processes that train one model: who is who, and sums over all of them.

Where there is one process, nothing here touches torch.distributed and every number passes through unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, distributed

from unshuffle.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Launched:
    """How torchrun, or whatever sets the same variables, has started this process."""

    ranks: int = 1
    nodes: int = 1
    on_this_node: int = 1

    @classmethod
    def read(cls) -> Launched:
        """From the environment; one process where it says nothing."""
        try:
            ranks, here = (int(os.environ.get(name, "1")) for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE"))
        except ValueError:
            raise ConfigError("WORLD_SIZE, LOCAL_WORLD_SIZE: not whole numbers. Start with torchrun.") from None
        if "LOCAL_RANK" not in os.environ or ranks == 1:
            return cls()
        if here < 1 or ranks % here:
            raise ConfigError(f"WORLD_SIZE {ranks}, LOCAL_WORLD_SIZE {here}: give every node as many processes.")
        return cls(ranks, ranks // here, here)


def ranks() -> int:
    """How many processes train together."""
    return distributed.get_world_size() if distributed.is_available() and distributed.is_initialized() else 1


def rank() -> int:
    """Which of them this one is, from 0."""
    return distributed.get_rank() if ranks() > 1 else 0


def leads() -> bool:
    """Whether this process is the one that writes."""
    return rank() == 0


def summed(numbers: Sequence[float]) -> list[float]:
    """Each number added up over all processes; whole numbers stay exact."""
    if ranks() == 1:
        return list(numbers)
    total = torch.tensor(numbers, dtype=torch.float64)
    distributed.all_reduce(total)
    return [float(number) for number in total]


def agreed(number: float) -> float:
    """The leading process's number: clocks differ, and all must stop at the same step."""
    (shared,) = summed([number if leads() else 0.0])
    return shared


def divided(sizes: Sequence[int], compute: Callable[[int], Tensor]) -> list[Tensor]:
    """Results (of these sizes) of several computations, each made by one process and sent to all."""
    if ranks() == 1:
        return [compute(number) for number in range(len(sizes))]
    parts = [compute(number) if number % ranks() == rank() else torch.zeros(size) for number, size in enumerate(sizes)]
    whole = torch.cat(parts)
    distributed.all_reduce(whole)  # all others hold zeros, so nothing is rounded
    return list(torch.split(whole, list(sizes)))
