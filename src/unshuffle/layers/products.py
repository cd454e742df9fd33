"""Products with weights that stay as they are: oneDNN's, from a copy of the weights in its own layout.

The matrix library that torch calls by itself is slow on few rows, and on some processors on many. oneDNN is part of
torch too; with weights that were laid out for it beforehand it takes a half to a third of the time. It is used while no
gradient is wanted; everywhere else, and for matrices so small that calling it takes longer, a product is torch's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

Made = TypeVar("Made")
AVAILABLE = torch._C._has_mkldnn and all(
    hasattr(torch.ops.mkldnn, name)
    for name in ("_linear_pointwise", "_reorder_linear_weight", "_reorder_mkldnn_rnn_layer_weight")
)
SHORT = AVAILABLE and torch.ops.mkldnn._is_mkldnn_bf16_supported()
"""Whether oneDNN computes in bfloat16 on this processor."""
SMALL = 1 << 16
"""Numbers of a matrix up to which torch's own product is faster."""


def product_type() -> torch.dtype:
    """What products on the processor are computed in at this moment."""
    return torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32


class LaidOut(Generic[Made]):
    """Weights in oneDNN's layout; belongs to the module that has the weights, so that the copy goes when it goes."""

    __slots__ = ("_made", "_seen")

    def __init__(self) -> None:
        self._made: Made | None = None
        self._seen: list[object] = []

    def get(self, make: Callable[..., Made], *weights: Tensor) -> Made | None:
        """What `make` makes of the weights, anew when they have changed; None where torch's own must do.

        In bfloat16 under autocast: half the bytes to read, which is what a product with few rows waits for.
        """
        if torch.is_grad_enabled():
            self._made = None  # what is learned is laid out anew: not every optimiser counts a change as a version
            return None
        if any(weight.is_inference() for weight in weights):  # changes could not be seen
            return None
        kind = product_type()
        if kind == torch.bfloat16 and not SHORT:
            return None
        seen = [kind, *(number for weight in weights for number in (weight._version, weight.data_ptr()))]
        if self._made is None or self._seen != seen:
            if not AVAILABLE or any(weight.device.type != "cpu" or weight.dtype != torch.float32 for weight in weights):
                return None
            self._made, self._seen = make(*(weight.detach().to(kind).contiguous() for weight in weights)), seen
        return self._made

    def __reduce__(self) -> tuple[type[LaidOut[Made]], tuple[()]]:
        """A copy of a module lays out its own weights."""
        return type(self), ()


class Product(LaidOut[Tensor]):
    """Multiplies rows by one matrix."""

    __slots__ = ()

    def __call__(self, rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """(..., input), (output, input) -> (..., output)."""
        if weight.numel() <= SMALL and product_type() == torch.float32:  # autocast would cast them at every call
            return linear(rows, weight, bias)
        ready = self.get(torch.ops.mkldnn._reorder_linear_weight, weight)
        if ready is None or not rows.is_floating_point():
            return linear(rows, weight, bias)
        kind = product_type()
        offset = None if bias is None else bias.to(kind)
        product: Tensor = torch.ops.mkldnn._linear_pointwise.default(rows.to(kind), ready, offset, "none", [], "")
        return product.float()


class Linear(nn.Linear):
    """Torch's layer, faster where nothing is learned."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__(in_features, out_features, bias)
        self._product = Product()

    def forward(self, rows: Tensor) -> Tensor:
        """(..., input) -> (..., output)."""
        return self._product(rows, self.weight, self.bias)
