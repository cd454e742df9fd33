"""The layers of a BERT as an ONNX graph, with matrix products of 8 or 32 bits.

The graph is written by hand: it is small, it stays the same whatever torch is installed, and each row of activations
has a scale of its own. The runtime's own quantiser has one scale for all rows, so that an answer would depend on what
else is read with it; on random text its states were also further off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unshuffle.encoders.pretrained.onnx_file import OTHER, OUTPUT
from unshuffle.encoders.pretrained.runners import LayerRange
from unshuffle.export.writer import GraphWriter

STEPS = 127
"""Of an activation, to each side of zero."""
LEVELS = 64
"""Of a weight, to each side of zero. More would be finer, but processors without VNNI add up two products in 16 bits:
255 * 64 * 2 still fits."""
MIDDLE = 128
"""What an activation of zero becomes: unsigned activations and signed weights are the pair processors are quick at."""
SMALLEST = 1e-12


def bert_graph(layers: LayerRange, *, int8: bool) -> bytes:
    """(pieces, width) as the layer before leaves them, with their layout -> (pieces, width)."""
    return _Export(int8).written(layers)


class _Export:
    def __init__(self, int8: bool) -> None:
        self.to = GraphWriter()
        self.int8 = int8

    def written(self, layers: LayerRange) -> bytes:
        if self.int8:
            self._prepare()
        states = "states"
        for number, (layer, apart) in enumerate(layers.layers, 1):
            mask = "mask" if apart is None else self._mask(_array(apart))
            states = self._layer(layer, states, mask, OUTPUT if number == len(layers.layers) else "")
        width = layers.model.embeddings.word_embeddings.embedding_dim
        inputs = {
            "states": (np.float32, ("pieces", width)),
            "cells": (np.int64, ("rows", "longest")),
            "mask": (np.float32, ("rows", 1, 1, "longest")),
            "place": (np.int64, ("pieces",)),
        }
        if layers.apart is not None:
            inputs[OTHER] = (np.float32, ("rows", 1, "longest", "longest"))
        return self.to.written(inputs, {OUTPUT: (np.float32, ("pieces", width))})  # type: ignore[arg-type]

    def _mask(self, apart: NDArray[np.float32]) -> str:
        """(rows, heads, longest, longest): the empty cells, and what the heads add between parts."""
        between = self.to.node("Mul", OTHER, self.to.constant(apart[:, None, None]))
        return self.to.node("Add", between, "mask")

    def _layer(self, layer: Any, states: str, mask: str, name: str) -> str:
        heard = self._attention(layer, states, mask)
        states = self._projection(layer.attention.output, heard, states)
        inner = self.to.node("Gelu", self._linear(states, *_numbers(layer.intermediate.dense)))
        return self._projection(layer.output, inner, states, name)

    def _attention(self, layer: Any, states: str, mask: str) -> str:
        parts = [_numbers(getattr(layer.attention.self, part)) for part in ("query", "key", "value")]
        width = len(parts[0][1])
        size = width // layer.heads
        scale = np.float32(size**-0.5)
        parts[0] = (parts[0][0] * scale, parts[0][1] * scale)
        # One product for all three: the states are rounded once.
        weight, bias = (np.concatenate(found, axis=-1) for found in zip(*parts, strict=True))
        table = self.to.node("Gather", self._linear(states, weight, bias), "cells", axis=0)
        by_head = self.to.constant(np.array([0, 0, layer.heads, size]))
        query, key, value = (
            self.to.node("Transpose", self.to.node("Reshape", part, by_head), perm=order)
            for part, order in zip(
                self.to.three("Split", table, axis=2, num_outputs=3),
                ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]),
                strict=True,
            )
        )
        weights = self.to.node("Softmax", self.to.node("Add", self.to.node("MatMul", query, key), mask), axis=-1)
        heard = self.to.node("Transpose", self.to.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        flat = self.to.node("Reshape", heard, self.to.constant(np.array([-1, width])))
        return self.to.node("Gather", flat, "place", axis=0)

    def _projection(self, part: Any, hidden: str, residual: str, name: str = "") -> str:
        total = self.to.node("Add", self._linear(hidden, *_numbers(part.dense)), residual)
        norm = part.LayerNorm
        learnt = [self.to.constant(_array(value)) for value in (norm.weight, norm.bias)]
        return self.to.node("LayerNormalization", total, *learnt, name=name, axis=-1, epsilon=float(norm.eps))

    def _linear(self, rows: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        product = self._rounded(rows, weight) if self.int8 else self.to.node("MatMul", rows, self.to.constant(weight))
        return self.to.node("Add", product, self.to.constant(bias))

    def _prepare(self) -> None:
        """What all products share."""
        self.one = self.to.constant(np.array(1, np.float32))
        self.step = self.to.constant(np.array(1 / STEPS, np.float32))
        self.smallest = self.to.constant(np.array(SMALLEST, np.float32))
        self.last_axis = self.to.constant(np.array([1]))
        self.middle = self.to.constant(np.array(MIDDLE, np.uint8))
        count = self.to.node("Shape", "place")
        self.middles = self.to.node("ConstantOfShape", count, value=self.to.tensor(np.array([MIDDLE], np.uint8)))

    def _rounded(self, rows: str, weight: NDArray[np.float32]) -> str:
        """Each row and each column with a scale of its own: (pieces, before) -> (pieces, after)."""
        columns = np.maximum(np.abs(weight).max(0), SMALLEST) / LEVELS
        whole = np.round(weight / columns).astype(np.int8)
        largest = self.to.node("ReduceMax", self.to.node("Abs", rows), self.last_axis, keepdims=0)
        scale = self.to.node("Max", self.to.node("Mul", largest, self.step), self.smallest)  # (pieces,)
        small = self.to.node("QuantizeLinear", rows, scale, self.middles, axis=0)
        stored = self.to.constant(whole), self.one, self.to.constant(columns.astype(np.float32)), self.middle
        product = self.to.node("MatMulIntegerToFloat", small, *stored, domain="com.microsoft")
        return self.to.node("Mul", product, self.to.node("Unsqueeze", scale, self.last_axis))


def _numbers(linear: torch.nn.Linear) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(before, after) and (after,), as the runtime multiplies."""
    return _array(linear.weight).T, _array(linear.bias)


def _array(value: torch.Tensor) -> NDArray[np.float32]:
    found: NDArray[np.float32] = value.detach().float().cpu().numpy()
    return found
