"""A GRU whose input is a sum of products, each computed once where several rows share it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, cast

import torch
from torch import Tensor, nn

from unshuffle.layers.products import Linear
from unshuffle.layers.segments import scatter_sum, select_rows
from unshuffle.machine import autocasts, single


@dataclass(slots=True)
class _Uses:
    """Inputs and output gradients of all uses since the last weight gradient."""

    inputs: list[Tensor] = field(default_factory=list)
    gradients: list[Tensor] = field(default_factory=list)


class SharedLinear:
    """Calls a layer like the layer itself; made for each forward pass.

    Autograd would compute one product per step, each as large as the weight matrix, and add them up. Here every use
    only records its input and its gradient; a node that precedes all uses, and is therefore reached last by the
    backward pass, computes the one product.
    """

    def __init__(self, layer: nn.Linear) -> None:
        self.layer = layer
        self._uses = _Uses()
        self._anchor: Tensor | None = None
        if torch.is_grad_enabled() and layer.weight.requires_grad and not autocasts(layer.weight.device):
            self._anchor = _WeightGradient.apply(layer.weight, self._uses)  # type: ignore[no-untyped-call]

    def __call__(self, rows: Tensor) -> Tensor:
        """(rows, input) -> (rows, output)."""
        if self._anchor is None:
            plain: Tensor = self.layer(rows)
            return plain
        product: Tensor = _Use.apply(rows, self._anchor, self.layer.weight.detach(), self._uses)  # type: ignore[no-untyped-call]
        return product if self.layer.bias is None else product + self.layer.bias


class _WeightGradient(torch.autograd.Function):
    """A scalar on which all uses depend; its backward pass runs after all of theirs."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, uses: _Uses) -> Tensor:
        ctx.uses = uses
        return weight.new_zeros(())

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        uses = ctx.uses
        gradient = torch.cat(uses.gradients).t() @ torch.cat(uses.inputs)
        uses.inputs.clear()
        uses.gradients.clear()
        return gradient, None


class _Use(torch.autograd.Function):
    """One product with the weights."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, anchor: Tensor, weight: Tensor, uses: _Uses) -> Tensor:
        ctx.save_for_backward(rows, weight)
        ctx.uses = uses
        return rows @ weight.t()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (grad,) = grads
        rows, weight = ctx.saved_tensors
        ctx.uses.inputs.append(rows)
        ctx.uses.gradients.append(grad)
        return grad @ weight if ctx.needs_input_grad[0] else None, grad.new_zeros(()), None, None


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
        self.parts = nn.ModuleList(Linear(part, 3 * width, bias=position == 0) for position, part in enumerate(widths))
        self.hidden = Linear(width, 3 * width, bias=False)
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
