"""How weights are stored: as they are, in 16 bits, or large matrices in 8 bits with a scale per row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from unshuffle.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

Storage = Literal["float32", "float16", "int8"]
SCALE = "#scale"
LARGE = 1 << 14
"""Numbers from which on a matrix is worth a scale per row; biases and small tables keep 16 bits."""


def packed(tensors: Mapping[str, Tensor], storage: Storage) -> dict[str, Tensor]:
    """The tensors as they are written to disk."""
    import torch  # here: the command line needs the names of the storages without it

    if storage == "float32":
        return dict(tensors)
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            found[name] = tensor
        elif storage == "int8" and tensor.dim() == 2 and tensor.numel() >= LARGE:
            scale = tensor.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
            found[name] = (tensor / scale).round().to(torch.int8)
            found[name + SCALE] = scale
        else:
            found[name] = tensor.half()
    return found


def unpacked(tensors: Mapping[str, Tensor], where: str = "weights") -> dict[str, Tensor]:
    """The reverse of `packed`, in 32 bits; `where` is the file that errors name."""
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith(SCALE):
            _check_scale(name, tensor, tensors.get(name.removesuffix(SCALE)), where)
            continue
        scale = tensors.get(name + SCALE)
        if scale is not None:
            _check_scale(name + SCALE, scale, tensor, where)
            tensor = tensor.float() * scale.float()
        found[name] = tensor.float() if tensor.is_floating_point() else tensor
    return found


def _check_scale(name: str, scale: Tensor, tensor: Tensor | None, where: str) -> None:
    """One number per row of a matrix, since any other shape would multiply to a larger matrix than is stored."""
    if tensor is None or tensor.dim() != 2 or scale.shape != (len(tensor), 1):
        raise ConfigError(f"{where}: {name[:99]!r} is not one scale per row. Download the model folder again.")
