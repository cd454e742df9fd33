"""Products with weights that stay as they are: oneDNN's, from a copy of the weights in its own layout.

The matrix library that torch calls by itself is slow on few rows, and on some processors on many. oneDNN is part of
torch too; that its products are several times as fast when it has laid the weights out beforehand is used here while
no gradient is wanted. Everywhere else a product is torch's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.utils.weak import WeakTensorKeyDictionary

from unshuffle.machine import autocasts

AVAILABLE = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_reorder_linear_weight")


@dataclass(frozen=True, slots=True)
class PackedWeight:
    """A matrix in oneDNN's layout, and what it was made from."""

    weight: Tensor  # (output, input), opaque
    address: int
    version: int

    def __call__(self, rows: Tensor, bias: Tensor | None = None) -> Tensor:
        """(rows, input) -> (rows, output)."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise.default(rows, self.weight, bias, "none", [], "")
        return product

    def added(self, rows: Tensor, to: Tensor) -> Tensor:
        """The product added to another table, in one pass."""
        total: Tensor = torch.ops.mkldnn._linear_pointwise.binary(rows, to, self.weight, None, "add")
        return total


_PACKED = WeakTensorKeyDictionary()


def packed(weight: Tensor) -> PackedWeight | None:
    """The same matrix packed, made when first asked for; None where torch's own product must be taken.

    A weight that takes part in learning is packed anew afterwards: not every optimiser counts its changes as versions.
    """
    if torch.is_grad_enabled():
        if _PACKED:
            _PACKED.pop(weight, None)
        return None
    if not AVAILABLE or weight.device.type != "cpu" or weight.dtype != torch.float32 or autocasts(weight.device):
        return None
    if weight.is_inference():  # changes could not be seen
        return None
    found = cast(PackedWeight | None, _PACKED.get(weight))
    if found is None or found.version != weight._version or found.address != weight.data_ptr():
        laid_out = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous())
        found = PackedWeight(laid_out, weight.data_ptr(), weight._version)
        _PACKED[weight] = found
    return found


class Linear(nn.Linear):
    """Torch's layer, several times as fast where nothing is learned."""

    def forward(self, rows: Tensor) -> Tensor:
        """(..., input) -> (..., output)."""
        ready = packed(self.weight)
        return linear(rows, self.weight, self.bias) if ready is None else ready(rows, self.bias)
