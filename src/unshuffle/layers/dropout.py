"""Dropout that throws a byte a value: torch draws a whole random number, which costs a processor five times as much."""

from __future__ import annotations

import torch
from torch import Tensor, nn

SIDES = 256
"""What a byte can say; a share of 0.5 is exact, any other is rounded to the nearest 1/256."""


class Dropout(nn.Module):
    """Sets a share of the values to nothing while training and scales the others up, so that the mean stays."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.lost = round(share * SIDES)
        self.share = self.lost / SIDES
        if self.lost >= SIDES:
            raise ValueError(f"a dropout of {share} leaves nothing: choose one below 1")

    def forward(self, values: Tensor) -> Tensor:
        """Of any shape."""
        if not self.training or self.lost == 0:
            return values
        count = values.numel()
        words = torch.empty(count // 8 + 1, dtype=torch.int64, device=values.device).random_(-(2**63), None)
        coins = words.view(torch.uint8)[:count].view(values.shape)
        kept = (coins >= self.lost).to(values.dtype).mul_(1 / (1 - self.share))
        return values * kept

    def extra_repr(self) -> str:
        """What print(module) shows."""
        return f"share={self.share:g}"
