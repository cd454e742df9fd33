"""Which device computes, and in which precision."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch
from torch import nn

from unshuffle.errors import ConfigError

Precision = Literal["32", "bf16"]
"""`32`: single precision; `bf16`: products in bfloat16, weights and sums in single precision."""


def usable_device(name: str) -> torch.device:
    """The device of that name; `auto` is the best one there is."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise ConfigError(f"device '{name}': it cannot be used here. Say cpu, or auto for the best there is.") from None
    return device


def computing(device: torch.device, precision: Precision) -> AbstractContextManager[object]:
    """A context in which modules compute in that precision; their weights keep their own."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bf16" else nullcontext()


def device_of(module: nn.Module) -> torch.device:
    """Where a module's parameters are."""
    return next(module.parameters()).device
