"""A linear layer that several steps use: its weight gradient is one product over all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from unshuffle.layers.precision import autocasts


@dataclass(slots=True)
class _Uses:
    """What went through the layer, and what came back, since the last gradient."""

    inputs: list[Tensor] = field(default_factory=list)
    gradients: list[Tensor] = field(default_factory=list)


class Shared:
    """Calls a layer like the layer itself; to be made anew for each pass.

    Torch would take a product a step, each as large as the weights, and add them up. Here every use only notes its
    input and its gradient; a node that stands before all uses, and so is reached last, takes the one product.
    """

    def __init__(self, layer: nn.Linear) -> None:
        self.layer = layer
        self._uses = _Uses()
        self._ticket: Tensor | None = None
        if torch.is_grad_enabled() and layer.weight.requires_grad and not autocasts(layer.weight.device):
            self._ticket = _Weight.apply(layer.weight, self._uses)  # type: ignore[no-untyped-call]

    def __call__(self, rows: Tensor) -> Tensor:
        """(rows, input) -> (rows, output)."""
        if self._ticket is None:
            plain: Tensor = self.layer(rows)
            return plain
        product: Tensor = _Use.apply(rows, self._ticket, self.layer.weight.detach(), self._uses)  # type: ignore[no-untyped-call]
        return product if self.layer.bias is None else product + self.layer.bias


class _Weight(torch.autograd.Function):
    """Hands out a ticket; when all uses have given theirs back, the weight's gradient is due."""

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
    def forward(ctx: Any, rows: Tensor, ticket: Tensor, weight: Tensor, uses: _Uses) -> Tensor:
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
