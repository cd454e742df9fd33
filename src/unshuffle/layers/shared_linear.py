"""A linear layer that several steps share: its weight gradient is one product over all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from unshuffle.layers.precision import autocasts


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
