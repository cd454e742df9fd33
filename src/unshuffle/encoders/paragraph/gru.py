"""A gated recurrent unit whose input is several vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn


class SplitGRU(nn.Module):
    """Multiplies each part of its input on its own, W[x;y] = Wx x + Wy y, so that a part that stays is done once.

    Reset is applied after the hidden product, as in torch's GRUCell; only the candidate has a second bias.
    """

    def __init__(self, parts: Sequence[int], width: int) -> None:
        super().__init__()
        self.width = width
        self.parts = nn.ModuleList(nn.Linear(part, 3 * width, bias=place == 0) for place, part in enumerate(parts))
        self.hidden = nn.Linear(width, 3 * width, bias=False)
        self.candidate_bias = nn.Parameter(torch.empty(width))
        bound = 1 / math.sqrt(sum(parts) + width)  # as one layer on the concatenation would start
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def project(self, place: int, part: Tensor) -> Tensor:
        """What one part of the input adds to the gates: (rows, part) -> (rows, 3 width)."""
        projected: Tensor = self.parts[place](part)
        return projected

    def forward(self, gates: Tensor, state: Tensor | None) -> Tensor:
        """`gates`: the sum of all projected parts; `state` None stands for zeros."""
        reset_update, candidate = gates[:, : 2 * self.width], gates[:, 2 * self.width :]
        if state is None:
            reset, update = reset_update.sigmoid().chunk(2, -1)
            candidate = torch.tanh(torch.addcmul(candidate, reset, self.candidate_bias))
            return candidate - update * candidate
        recurrent: Tensor = self.hidden(state)
        reset, update = (reset_update + recurrent[:, : 2 * self.width]).sigmoid().chunk(2, -1)
        candidate = torch.tanh(torch.addcmul(candidate, reset, recurrent[:, 2 * self.width :] + self.candidate_bias))
        return torch.lerp(candidate, state, update)
