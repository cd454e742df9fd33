"""The tensors of a model folder as numpy arrays, read once and checked before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshuffle.errors import ConfigError

Shape = tuple[int, ...]
HEADER = 2**22
"""Bytes that the file of weights may have beyond eight for each number."""
SCALE = "#scale"
"""Ending of the name under which the scale per row of an 8-bit matrix is stored."""


@dataclass(frozen=True)
class Weights:
    """Tensors by name, matrices possibly in 8 bits with a scale per row."""

    stored: Mapping[str, NDArray[Any]]

    def floats(self, name: str) -> NDArray[np.float32]:
        """The tensor in 32 bits."""
        value, scale = self.stored[name], self.stored.get(name + SCALE)
        found: NDArray[np.float32] = value.astype(np.float32)
        return found if scale is None else found * scale.astype(np.float32)

    def bytes_and_scale(self, name: str) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """(rows, columns) in 8 bits and (rows,) their scales; a matrix stored otherwise is rounded."""
        scale = self.stored.get(name + SCALE)
        if scale is not None:
            return self.stored[name], scale.astype(np.float32)[:, 0]
        floats = self.floats(name)
        largest = np.maximum(np.abs(floats).max(1), 1e-12) / 127
        return np.round(floats / largest[:, None]).astype(np.int8), largest.astype(np.float32)

    def rows(self, name: str, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Some rows of a matrix in 32 bits: a large table of words is never unpacked whole."""
        found: NDArray[np.float32] = self.stored[name][numbers].astype(np.float32)
        scale = self.stored.get(name + SCALE)
        return found if scale is None else found * scale[numbers].astype(np.float32)


def largest_file(shapes: Mapping[str, Shape]) -> int:
    """Bytes that a file of these tensors has at most."""
    return 8 * sum(prod(shape) for shape in shapes.values()) + HEADER


def check_shapes(weights: Weights, expected: Mapping[str, Shape], where: str) -> None:
    """Refuses missing, foreign and misshapen tensors, types that are not weights, and scales that do not fit."""
    stored = {name: value for name, value in weights.stored.items() if not name.endswith(SCALE)}
    for name, shape in expected.items():
        if name not in stored or stored[name].shape != shape:
            raise ConfigError(f"{where}: '{name}' is missing or has another shape. Download the model folder again.")
    for name, value in weights.stored.items():
        base = name.removesuffix(SCALE)
        wrong = base not in expected or value.dtype not in (np.int8, np.float16, np.float32)
        if name != base:
            wrong = wrong or value.shape != (expected[base][0], 1) or stored[base].dtype != np.int8
        elif value.dtype == np.int8:
            wrong = wrong or name + SCALE not in weights.stored
        if wrong:
            raise ConfigError(f"{where}: '{name}' belongs to another system. Download the model folder again.")
