"""A gated recurrent unit with several named inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, cast

import torch
from torch import Tensor, nn

from unshuffle.layers.precision import single
from unshuffle.layers.segments import scatter_sum, select_rows
from unshuffle.layers.shared_linear import SharedLinear


@dataclass(frozen=True, slots=True)
class Gathered:
    """An input of which many nodes read the same few rows: they are multiplied first and gathered afterwards."""

    rows: Tensor  # (distinct, input)
    index: Tensor  # (reads,) which row is read
    target: Tensor | None = None  # (reads,) the node that adds it up; None where each node reads once, in turn
    size: int = 0  # nodes, where there is a target


class SplitGRU(nn.Module):
    """A GRU on the concatenation of its inputs, W[x; y] = Wx x + Wy y, with a matrix of its own for each.

    Reset is applied after the hidden product, as in torch's GRUCell; only the candidate has a second bias.
    """

    def __init__(self, inputs: Mapping[str, int], width: int) -> None:
        super().__init__()
        self.width = width
        self.inputs = tuple(inputs)
        widths = list(inputs.values())
        self.parts = nn.ModuleList(nn.Linear(part, 3 * width, bias=place == 0) for place, part in enumerate(widths))
        self.hidden = nn.Linear(width, 3 * width, bias=False)
        self.candidate_bias = nn.Parameter(torch.empty(width))
        bound = 1 / math.sqrt(sum(widths) + width)  # the range of one layer on the concatenation
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def unrolled(self) -> UnrolledGRU:
        """The unit as the steps of one forward pass use it."""
        return UnrolledGRU(self)


class UnrolledGRU:
    """A `SplitGRU` over the steps of one pass; each weight gradient is one product for all steps together."""

    def __init__(self, gru: SplitGRU) -> None:
        self._bias = gru.candidate_bias
        self._inputs = {
            name: SharedLinear(cast(nn.Linear, part)) for name, part in zip(gru.inputs, gru.parts, strict=True)
        }
        self._hidden = SharedLinear(gru.hidden)

    def project(self, **inputs: Tensor | Gathered) -> Tensor:
        """(rows, 3 width): what these inputs add to the gates; one that stays the same is projected once."""
        return reduce(torch.add, (self._project(name, value) for name, value in inputs.items()))

    def __call__(self, state: Tensor | None, projected: Tensor | None = None, **inputs: Tensor | Gathered) -> Tensor:
        """The next state; `projected` are inputs projected beforehand, a `state` of None stands for zeros."""
        terms = [] if projected is None else [projected]
        gates = reduce(torch.add, terms + [self._project(name, value) for name, value in inputs.items()])
        return self._from_zero(gates) if state is None else self._from(state, gates)

    def _project(self, name: str, value: Tensor | Gathered) -> Tensor:
        layer = self._inputs[name]
        if isinstance(value, Tensor):
            return layer(value)
        read = select_rows(layer(value.rows), value.index)
        return read if value.target is None else scatter_sum(read, value.target, value.size)

    def _from_zero(self, gates: Tensor) -> Tensor:
        width = len(self._bias)
        reset_update, candidate = torch.split(gates, [2 * width, width], 1)
        reset, update = reset_update.sigmoid().chunk(2, -1)
        candidate = torch.tanh(torch.addcmul(candidate, reset, self._bias))
        return candidate - update * candidate

    def _from(self, state: Tensor, gates: Tensor) -> Tensor:
        new: Tensor = _Update.apply(*single(gates, self._hidden(state), self._bias, state))  # type: ignore[no-untyped-call]
        return new


class _Update(torch.autograd.Function):
    """What follows the products of a GRU step; autograd would run three times as many small operations backward."""

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
        grad_state = grad * update
        grad_candidate = torch.ops.aten.tanh_backward(grad - grad_state, candidate)
        grad_reset_update = torch.cat([grad_candidate * remembered, grad * (state - candidate)], 1)
        grad_reset_update = torch.ops.aten.sigmoid_backward(grad_reset_update, reset_update)
        grad_remembered = grad_candidate * reset
        grad_gates = torch.cat([grad_reset_update, grad_candidate], 1)
        grad_recurrent = torch.cat([grad_reset_update, grad_remembered], 1)
        return grad_gates, grad_recurrent, grad_remembered.sum(0), grad_state
