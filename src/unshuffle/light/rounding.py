"""Matrix products in 8 bits, for the feed-forward halves of a BERT's layers.

Each row of activations has a scale of its own, so that an answer does not depend on what else is read with it; the
runtime's own quantiser has one scale for all rows. A few columns that a norm makes far larger than the others are
multiplied in 32 bits: a scale that has to reach them would leave the others hardly any levels. Attention is not
rounded at all, since the softmax of many rounded scores is where nearly all of the error came from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshuffle.light.onnx_graph import OnnxGraph
from unshuffle.light.weights import Weights

STEPS = 127
"""Levels of an activation to each side of zero."""
MIDDLE = 128
"""What an activation of zero becomes: unsigned activations and signed weights are what processors multiply fastest."""
LEVELS = 255
"""Levels of an activation that is never negative."""
LOWEST = 0.17
"""No output of GELU lies further below zero."""
LARGE_COLUMNS = 16
"""Columns of a norm's output that are multiplied in 32 bits."""
SPREAD = 4.0
"""Standard deviations from its mean within which a column is expected when the largest are looked for."""
SMALLEST = 1e-12


class RoundedProducts:
    """Linear layers of a graph in 8 bits: (pieces, before) -> (pieces, after)."""

    def __init__(
        self, graph: OnnxGraph, weights: Weights, tensor: Callable[[str, NDArray[Any]], str], rows: str
    ) -> None:
        """`tensor` adds a tensor to the graph; `rows`: an input with a row per piece."""
        self._graph, self._weights, self._tensor = graph, weights, tensor
        self._one, self._smallest, self._lowest = (
            graph.constant(np.array(value, np.float32)) for value in (1, SMALLEST, LOWEST)
        )
        self._last_axis = graph.constant(np.array([1], np.int64))
        pieces = graph.node("Shape", rows, start=0, end=1)
        self._zeros = {
            value: (
                graph.constant(np.array(value, np.uint8)),
                graph.node("ConstantOfShape", pieces, value=np.uint8(value)),
            )
            for value in (0, MIDDLE)
        }

    def after_norm(self, name: str, rows: str, norm: str) -> str:
        """A linear layer that reads a norm's output."""
        columns = self._large_columns(norm)
        kept = np.ones(len(self._weights.floats(f"{norm}.bias")), np.float32)
        kept[columns] = 0
        exact = self._graph.node(
            "Gemm",
            self._graph.node("Gather", rows, self._graph.constant(columns), axis=1),
            self._tensor(f"{name}.large", self._weights.floats(f"{name}.weight").T[columns]),
            self._tensor(f"{name}.bias", self._weights.floats(f"{name}.bias")),
        )
        small = self._graph.node("Mul", rows, self._graph.constant(kept))
        largest = self._graph.node("ReduceMax", self._graph.node("Abs", small), self._last_axis, keepdims=0)
        return self._graph.node("Add", self._product(name, small, largest, STEPS, MIDDLE), exact)

    def after_gelu(self, name: str, rows: str) -> str:
        """A linear layer that reads GELU's output: raised above zero, all levels serve; the bias takes it back."""
        raised = self._graph.node("Add", rows, self._lowest)
        largest = self._graph.node("ReduceMax", raised, self._last_axis, keepdims=0)
        lowered = self._weights.floats(f"{name}.bias") - np.float32(LOWEST) * self._weights.floats(
            f"{name}.weight"
        ).sum(1)
        product = self._product(name, raised, largest, LEVELS, 0)
        return self._graph.node("Add", product, self._tensor(f"{name}.bias", lowered))

    def _large_columns(self, norm: str) -> NDArray[np.int64]:
        """Those that a norm's own scale and offset make largest."""
        reach = np.abs(self._weights.floats(f"{norm}.bias")) + SPREAD * np.abs(self._weights.floats(f"{norm}.weight"))
        return np.sort(np.argsort(-reach, kind="stable")[: min(LARGE_COLUMNS, len(reach))])

    def _product(self, name: str, rows: str, largest: str, levels: int, zero: int) -> str:
        """Each row and each column with a scale of its own."""
        whole, scales = self._weights.bytes_and_scale(f"{name}.weight")
        weight, columns = self._tensor(f"{name}.weight", whole.T), self._tensor(f"{name}.scale", scales)
        step = self._graph.constant(np.array(1 / levels, np.float32))
        scale = self._graph.node("Max", self._graph.node("Mul", largest, step), self._smallest)  # (pieces,)
        one_zero, zeros = self._zeros[zero]
        small = self._graph.node("QuantizeLinear", rows, scale, zeros, axis=0)
        stored = (weight, self._one, columns, one_zero)
        product = self._graph.node("MatMulIntegerToFloat", small, *stored, domain="com.microsoft")
        return self._graph.node("Mul", product, self._graph.node("Unsqueeze", scale, self._last_axis))
