"""Where autocast must not reach: operations that write into their inputs, or bring their own gradient."""

from __future__ import annotations

import torch
from torch import Tensor


def autocasts(device: torch.device) -> bool:
    """Whether products on this device are computed in fewer bits at this moment."""
    return torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)


def single(*tensors: Tensor) -> tuple[Tensor, ...]:
    """What autocast has shortened back in single precision; everything else as it is."""
    return tuple(tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor for tensor in tensors)
