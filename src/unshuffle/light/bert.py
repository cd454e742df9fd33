"""The layers of a BERT in ONNX Runtime, with matrix products in 32 or 8 bits.

In 8 bits each row of activations has a scale of its own, so that an answer does not depend on what else is read with
it; the runtime's own quantiser has one scale for all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshuffle.light.onnx_graph import OnnxGraph
from unshuffle.light.weights import Weights

STEPS = 127
"""Levels of an activation to each side of zero."""
MIDDLE = 128
"""What an activation of zero becomes: unsigned activations and signed weights are what processors multiply fastest."""
SMALLEST = 1e-12
BLOCK = 256
"""Pieces of a long sequence whose attention is computed together."""
Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BertShape:
    """Sizes of a BERT that its graph depends on."""

    width: int
    inner: int
    heads: int
    epsilon: float


class BertLayers:
    """Some layers in a row, as one session of ONNX Runtime."""

    def __init__(
        self,
        shape: BertShape,
        weights: Weights,
        names: list[str],
        *,
        int8: bool,
        threads: int,
        between: NDArray[np.float32] | None = None,
    ) -> None:
        """`names`: prefixes of the layers' weights; `between`: (layers, heads) bias of attention between sentences."""
        self._shape, self._weights, self._int8 = shape, weights, int8
        self._threads, self._names, self._between = threads, names, between
        builder = self._builder()
        self._session = _session(builder.all_layers(names, between), builder.tensors, threads)
        self._one_by_one: list[tuple[Any, Any]] = []

    def __call__(self, states: Rows, cells: NDArray[np.int64], present: NDArray[np.bool_], part: NDArray[Any]) -> Rows:
        """(pieces, width) -> (pieces, width).

        `cells`: (rows, longest) the piece in each cell of a padded table; `present`: which cells hold one; `part`:
        (rows, longest) the sentence that a cell belongs to.
        """
        given: dict[str, NDArray[Any]] = {
            "states": states,
            "cells": cells,
            "mask": np.where(present, np.float32(0), np.float32(-1e9))[:, None, None, :],
            "place": np.flatnonzero(present),
        }
        if self._between is not None:
            given["other"] = (part[:, None, :, None] != part[:, None, None, :]).astype(np.float32)
        (answer,) = self._session.run(None, given)
        found: Rows = answer
        return found

    def in_blocks(self, states: Rows, part: NDArray[Any]) -> Rows:
        """The same for one long sequence: attention is computed for some pieces at a time, in bounded memory."""
        if not self._one_by_one:
            self._one_by_one = [self._layer_sessions(number) for number in range(len(self._names))]
        for project, attend in self._one_by_one:
            (projected,) = project.run(None, {"states": states})
            blocks = []
            for start in range(0, len(states), BLOCK):
                some = slice(start, start + BLOCK)
                given = {"projected": projected, "query": projected[some, : states.shape[1]], "states": states[some]}
                if self._between is not None:
                    given["other"] = (part[some, None] != part[None]).astype(np.float32)
                blocks += attend.run(None, given)
            states = np.concatenate(blocks)
        return states

    def _builder(self) -> _Builder:
        return _Builder(self._shape, self._weights, int8=self._int8)

    def _layer_sessions(self, number: int) -> tuple[Any, Any]:
        name, between = self._names[number], None if self._between is None else self._between[number]
        project, attend = self._builder(), self._builder()
        return (
            _session(project.projection_of(name), project.tensors, self._threads),
            _session(attend.block_of(name, between), attend.tensors, self._threads),
        )


class _Builder:
    """Writes the graph and gathers the tensors that it is to be handed."""

    def __init__(self, shape: BertShape, weights: Weights, *, int8: bool) -> None:
        self.shape, self.weights, self.int8 = shape, weights, int8
        self.graph = OnnxGraph()
        self.tensors: dict[str, NDArray[Any]] = {}

    def all_layers(self, names: list[str], between: NDArray[np.float32] | None) -> bytes:
        """Layers over padded tables of sequences."""
        self._prepare("place")
        states = "states"
        for number, name in enumerate(names):
            mask = "mask" if between is None else self._mask(between[number])
            states = self._layer(name, states, mask, "answer" if number == len(names) - 1 else "")
        width = self.shape.width
        inputs: dict[str, tuple[type, tuple[int | str, ...]]] = {
            "states": (np.float32, ("pieces", width)),
            "cells": (np.int64, ("rows", "longest")),
            "mask": (np.float32, ("rows", 1, 1, "longest")),
            "place": (np.int64, ("pieces",)),
        }
        if between is not None:
            inputs["other"] = (np.float32, ("rows", 1, "longest", "longest"))
        return self.graph.written(inputs, {"answer": (np.float32, ("pieces", width))})

    def projection_of(self, name: str) -> bytes:
        """(pieces, width) -> (pieces, 3 width): query, key and value of one layer."""
        width = self.shape.width
        self._prepare("states")
        projected = self._linear([f"{name}.attention.self.{part}" for part in ("query", "key", "value")], "states")
        self.graph.node("Identity", projected, name="answer")
        return self.graph.written(
            {"states": (np.float32, ("pieces", width))}, {"answer": (np.float32, ("pieces", 3 * width))}
        )

    def block_of(self, name: str, between: NDArray[np.float32] | None) -> bytes:
        """One layer for some pieces of a single sequence, which attend to all of it."""
        width, heads = self.shape.width, self.shape.heads
        self._prepare("states")
        by_head = self.graph.constant(np.array([-1, heads, width // heads], np.int64))
        _, key, value = self.graph.nodes("Split", ("projected",), ("q", "k", "v"), axis=1, num_outputs=3)
        query, key, value = (
            self.graph.node("Transpose", self.graph.node("Reshape", part, by_head), perm=order)
            for part, order in (("query", (1, 0, 2)), (key, (1, 2, 0)), (value, (1, 0, 2)))
        )
        mask = None
        if between is not None:
            mask = self.graph.node("Mul", "other", self.graph.constant(between.astype(np.float32)[:, None, None]))
        mixed = self.graph.node("Transpose", self._mixed(query, key, value, mask), perm=(1, 0, 2))
        flat = self.graph.node("Reshape", mixed, self.graph.constant(np.array([-1, width], np.int64)))
        self._after_attention(name, flat, "states", "answer")
        inputs: dict[str, tuple[type, tuple[int | str, ...]]] = {
            "projected": (np.float32, ("pieces", 3 * width)),
            "query": (np.float32, ("block", width)),
            "states": (np.float32, ("block", width)),
        }
        if between is not None:
            inputs["other"] = (np.float32, ("block", "pieces"))
        return self.graph.written(inputs, {"answer": (np.float32, ("block", width))})

    def _mask(self, between: NDArray[np.float32]) -> str:
        """(rows, heads, longest, longest): empty cells, and the bias of each head between sentences."""
        bias = self.graph.constant(between.astype(np.float32)[:, None, None])
        return self.graph.node("Add", self.graph.node("Mul", "other", bias), "mask")

    def _layer(self, name: str, states: str, mask: str, output: str) -> str:
        return self._after_attention(name, self._attention(f"{name}.attention.self", states, mask), states, output)

    def _after_attention(self, name: str, attended: str, states: str, output: str) -> str:
        states = self._projection(f"{name}.attention.output", attended, states)
        inner = self.graph.node("Gelu", self._linear([f"{name}.intermediate.dense"], states))
        return self._projection(f"{name}.output", inner, states, output)

    def _attention(self, name: str, states: str, mask: str) -> str:
        heads, width = self.shape.heads, self.shape.width
        # One product for all three: the states are rounded once.
        projected = self._linear([f"{name}.{part}" for part in ("query", "key", "value")], states)
        table = self.graph.node("Gather", projected, "cells", axis=0)
        by_head = self.graph.constant(np.array([0, 0, heads, width // heads], np.int64))
        parts = self.graph.nodes("Split", (table,), [f"{name}.{part}" for part in "qkv"], axis=2, num_outputs=3)
        orders = ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))
        query, key, value = (
            self.graph.node("Transpose", self.graph.node("Reshape", part, by_head), perm=order)
            for part, order in zip(parts, orders, strict=True)
        )
        mixed = self.graph.node("Transpose", self._mixed(query, key, value, mask), perm=(0, 2, 1, 3))
        flat = self.graph.node("Reshape", mixed, self.graph.constant(np.array([-1, width], np.int64)))
        return self.graph.node("Gather", flat, "place", axis=0)

    def _mixed(self, query: str, key: str, value: str, mask: str | None) -> str:
        """Scaled dot-product attention over the last two axes."""
        scale = self.graph.constant(np.array((self.shape.width // self.shape.heads) ** -0.5, np.float32))
        scores = self.graph.node("Mul", self.graph.node("MatMul", query, key), scale)
        scores = scores if mask is None else self.graph.node("Add", scores, mask)
        return self.graph.node("MatMul", self.graph.node("Softmax", scores, axis=-1), value)

    def _projection(self, name: str, hidden: str, residual: str, output: str = "") -> str:
        total = self.graph.node("Add", self._linear([f"{name}.dense"], hidden), residual)
        learned = [self._vector(f"{name}.LayerNorm.{part}") for part in ("weight", "bias")]
        epsilon = self.shape.epsilon
        return self.graph.node("LayerNormalization", total, *learned, name=output, axis=-1, epsilon=epsilon)

    def _linear(self, names: list[str], rows: str) -> str:
        """Linear layers of the same input side by side: (pieces, before) -> (pieces, after)."""
        bias = self._tensor(f"{names[0]}.bias", np.concatenate([self.weights.floats(f"{name}.bias") for name in names]))
        product = self._rounded(names, rows) if self.int8 else self._product(names, rows)
        return self.graph.node("Add", product, bias)

    def _product(self, names: list[str], rows: str) -> str:
        weight = np.concatenate([self.weights.floats(f"{name}.weight").T for name in names], 1)
        return self.graph.node("MatMul", rows, self._tensor(f"{names[0]}.weight", weight))

    def _rounded(self, names: list[str], rows: str) -> str:
        """Each row and each column with a scale of its own."""
        found = [self.weights.bytes_and_scale(f"{name}.weight") for name in names]
        weight = self._tensor(f"{names[0]}.weight", np.concatenate([whole.T for whole, _ in found], 1))
        columns = self._tensor(f"{names[0]}.scale", np.concatenate([scale for _, scale in found]))
        largest = self.graph.node("ReduceMax", self.graph.node("Abs", rows), self._last_axis, keepdims=0)
        scale = self.graph.node("Max", self.graph.node("Mul", largest, self._step), self._smallest)  # (pieces,)
        small = self.graph.node("QuantizeLinear", rows, scale, self._middles, axis=0)
        stored = (weight, self._one, columns, self._middle)
        product = self.graph.node("MatMulIntegerToFloat", small, *stored, domain="com.microsoft")
        return self.graph.node("Mul", product, self.graph.node("Unsqueeze", scale, self._last_axis))

    def _prepare(self, rows: str) -> None:
        """What all products in 8 bits share; `rows` is an input with a row per piece."""
        if not self.int8:
            return
        self._one = self.graph.constant(np.array(1, np.float32))
        self._step = self.graph.constant(np.array(1 / STEPS, np.float32))
        self._smallest = self.graph.constant(np.array(SMALLEST, np.float32))
        self._last_axis = self.graph.constant(np.array([1], np.int64))
        self._middle = self.graph.constant(np.array(MIDDLE, np.uint8))
        self._middles = self.graph.node(
            "ConstantOfShape", self.graph.node("Shape", rows, start=0, end=1), value=np.uint8(MIDDLE)
        )

    def _vector(self, name: str) -> str:
        return self._tensor(name, self.weights.floats(name))

    def _tensor(self, name: str, value: NDArray[Any]) -> str:
        self.tensors[name] = np.ascontiguousarray(value)
        return self.graph.external(name, value.dtype.type, value.shape)


def _session(content: bytes, tensors: dict[str, NDArray[Any]], threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # failures are raised, and said once
    # A thread that waits busily takes the processor from everything else.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in tensors.values()]
    options.add_external_initializers(list(tensors), values)
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
