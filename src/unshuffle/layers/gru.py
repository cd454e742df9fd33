"""A gated recurrent unit whose input is several vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from unshuffle.layers.precision import single
from unshuffle.layers.shared_linear import Shared


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
        return SharedGRU(self)(gates, state)


class SharedGRU:
    """A `SplitGRU` for the steps of one pass; each of its weight gradients is computed once for all of them."""

    def __init__(self, gru: SplitGRU) -> None:
        self._bias = gru.candidate_bias
        self._parts = [Shared(cast(nn.Linear, part)) for part in gru.parts]
        self._hidden = Shared(gru.hidden)

    def project(self, place: int, part: Tensor) -> Tensor:
        """As `SplitGRU.project`."""
        return self._parts[place](part)

    def __call__(self, gates: Tensor, state: Tensor | None) -> Tensor:
        """As `SplitGRU.forward`."""
        if state is None:
            width = len(self._bias)
            reset_update, candidate = torch.split(gates, [2 * width, width], 1)
            reset, update = reset_update.sigmoid().chunk(2, -1)
            candidate = torch.tanh(torch.addcmul(candidate, reset, self._bias))
            fresh: Tensor = candidate - update * candidate
            return fresh
        new: Tensor = _Update.apply(*single(gates, self._hidden(state), self._bias, state))  # type: ignore[no-untyped-call]
        return new


class _Update(torch.autograd.Function):
    """Everything behind the products of a GRU step; torch would take three times as many small operations back."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, recurrent: Tensor, bias: Tensor, state: Tensor) -> Tensor:
        width = state.shape[1]
        reset_update = (gates[:, : 2 * width] + recurrent[:, : 2 * width]).sigmoid_()
        reset, update = reset_update.chunk(2, 1)
        remembered = recurrent[:, 2 * width :] + bias
        candidate = torch.addcmul(gates[:, 2 * width :], reset, remembered).tanh_()
        ctx.save_for_backward(reset_update, remembered, candidate, state)
        return torch.lerp(candidate, state, update)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (grad,) = grads
        reset_update, remembered, candidate, state = ctx.saved_tensors
        reset, update = reset_update.chunk(2, 1)
        to_state = grad * update
        to_candidate = torch.ops.aten.tanh_backward(grad - to_state, candidate)
        to_reset_update = torch.cat([to_candidate * remembered, grad * (state - candidate)], 1)
        to_reset_update = torch.ops.aten.sigmoid_backward(to_reset_update, reset_update)
        to_remembered = to_candidate * reset
        to_gates = torch.cat([to_reset_update, to_candidate], 1)
        to_recurrent = torch.cat([to_reset_update, to_remembered], 1)
        return to_gates, to_recurrent, to_remembered.sum(0), to_state
