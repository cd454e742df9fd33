"""The layers of a BERT in ONNX Runtime, with the products of feed-forward layers in 32 or 8 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshuffle.light.onnx_graph import OnnxGraph
from unshuffle.light.rounding import RoundedProducts
from unshuffle.light.weights import Weights

BLOCK = 256
"""Most pieces of a long sequence whose attention is computed together."""
CELLS = 1 << 21
"""Scores of attention that are held at once for a long sequence."""
CHUNK = 256
"""Pieces of a long sequence that go through the other products together."""
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
            self._one_by_one = [self._layer_sessions(name) for name in self._names]
        # Of this call alone, since its memory is kept as long as it is.
        attention = _session(self._builder().attention(), {}, self._threads)
        heads, width = self._shape.heads, self._shape.width
        block = max(1, min(BLOCK, CELLS // (heads * len(states))))
        for number, (project, finish) in enumerate(self._one_by_one):
            projected = np.concatenate(
                [found for some in _chunks(states) for found in project.run(None, {"states": states[some]})]
            )
            query, key, value = np.moveaxis(projected.reshape(len(states), 3, heads, width // heads), 1, 0)
            key, value = (
                np.ascontiguousarray(part.transpose(order)) for part, order in ((key, (1, 2, 0)), (value, (1, 0, 2)))
            )
            between = np.zeros(heads, np.float32) if self._between is None else self._between[number]
            attended = np.empty_like(states)
            for start in range(0, len(states), block):
                some = slice(start, start + block)
                given = {
                    "query": np.ascontiguousarray(query[some].transpose(1, 0, 2)),
                    "key": key,
                    "value": value,
                    "other": (part[some, None] != part[None]).astype(np.float32),
                    "between": between.astype(np.float32)[:, None, None],
                }
                (attended[some],) = attention.run(None, given)
            states = np.concatenate(
                [
                    found
                    for some in _chunks(states)
                    for found in finish.run(None, {"attended": attended[some], "states": states[some]})
                ]
            )
        return states

    def _builder(self) -> _Builder:
        return _Builder(self._shape, self._weights, int8=self._int8)

    def _layer_sessions(self, name: str) -> tuple[Any, Any]:
        """What comes before one layer's attention, and what comes after."""
        before, after = self._builder(), self._builder()
        return (
            _session(before.projection_of(name), before.tensors, self._threads, keep=False),
            _session(after.rest_of(name), after.tensors, self._threads, keep=False),
        )


class _Builder:
    """Writes the graph and gathers the tensors that it is to be handed."""

    def __init__(self, shape: BertShape, weights: Weights, *, int8: bool) -> None:
        self.shape, self.weights, self.int8 = shape, weights, int8
        self.rounded: RoundedProducts | None = None
        self.graph = OnnxGraph()
        self.tensors: dict[str, NDArray[Any]] = {}

    def all_layers(self, names: list[str], between: NDArray[np.float32] | None) -> bytes:
        """Layers over padded tables of sequences."""
        self._round_for("place")
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
        projected = self._linear([f"{name}.attention.self.{part}" for part in ("query", "key", "value")], "states")
        self.graph.node("Identity", projected, name="answer")
        return self.graph.written(
            {"states": (np.float32, ("pieces", width))}, {"answer": (np.float32, ("pieces", 3 * width))}
        )

    def attention(self) -> bytes:
        """Some pieces of a single sequence attend to all of it: (heads, block, size) -> (block, width)."""
        width, heads = self.shape.width, self.shape.heads
        mask = self.graph.node("Mul", "other", "between")
        mixed = self.graph.node("Transpose", self._mixed("query", "key", "value", mask), perm=(1, 0, 2))
        self.graph.node("Reshape", mixed, self.graph.constant(np.array([-1, width], np.int64)), name="answer")
        size = width // heads
        return self.graph.written(
            {
                "query": (np.float32, (heads, "block", size)),
                "key": (np.float32, (heads, size, "pieces")),
                "value": (np.float32, (heads, "pieces", size)),
                "other": (np.float32, ("block", "pieces")),
                "between": (np.float32, (heads, 1, 1)),
            },
            {"answer": (np.float32, ("block", width))},
        )

    def rest_of(self, name: str) -> bytes:
        """One layer after its attention."""
        width = self.shape.width
        self._round_for("states")
        self._after_attention(name, "attended", "states", "answer")
        rows = (np.float32, ("pieces", width))
        return self.graph.written({"attended": rows, "states": rows}, {"answer": rows})

    def _mask(self, between: NDArray[np.float32]) -> str:
        """(rows, heads, longest, longest): empty cells, and the bias of each head between sentences."""
        bias = self.graph.constant(between.astype(np.float32)[:, None, None])
        return self.graph.node("Add", self.graph.node("Mul", "other", bias), "mask")

    def _layer(self, name: str, states: str, mask: str, output: str) -> str:
        return self._after_attention(name, self._attention(f"{name}.attention.self", states, mask), states, output)

    def _after_attention(self, name: str, attended: str, states: str, output: str) -> str:
        norm = f"{name}.attention.output"
        states = self._normed(norm, self._linear([f"{norm}.dense"], attended), states)
        first, second = f"{name}.intermediate.dense", f"{name}.output.dense"
        if self.rounded is None:
            heard = self._linear([second], self.graph.node("Gelu", self._linear([first], states)))
        else:
            inner = self.graph.node("Gelu", self.rounded.after_norm(first, states, f"{norm}.LayerNorm"))
            heard = self.rounded.after_gelu(second, inner)
        return self._normed(f"{name}.output", heard, states, output)

    def _attention(self, name: str, states: str, mask: str) -> str:
        heads, width = self.shape.heads, self.shape.width
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

    def _mixed(self, query: str, key: str, value: str, mask: str) -> str:
        """Scaled dot-product attention over the last two axes."""
        scale = self.graph.constant(np.array((self.shape.width // self.shape.heads) ** -0.5, np.float32))
        scores = self.graph.node("Mul", self.graph.node("MatMul", query, key), scale)
        likely = self.graph.node("Softmax", self.graph.node("Add", scores, mask), axis=-1)
        return self.graph.node("MatMul", likely, value)

    def _normed(self, name: str, projected: str, residual: str, output: str = "") -> str:
        total = self.graph.node("Add", projected, residual)
        learned = [self._vector(f"{name}.LayerNorm.{part}") for part in ("weight", "bias")]
        epsilon = self.shape.epsilon
        return self.graph.node("LayerNormalization", total, *learned, name=output, axis=-1, epsilon=epsilon)

    def _linear(self, names: list[str], rows: str) -> str:
        """Linear layers of the same input side by side: (pieces, before) -> (pieces, after)."""
        bias = np.concatenate([self.weights.floats(f"{name}.bias") for name in names])
        weight = np.concatenate([self.weights.floats(f"{name}.weight").T for name in names], 1)
        product = self.graph.node("MatMul", rows, self._tensor(f"{names[0]}.weight", weight))
        return self.graph.node("Add", product, self._tensor(f"{names[0]}.bias", bias))

    def _round_for(self, rows: str) -> None:
        """Products in 8 bits where they are wanted; `rows` is an input with a row per piece."""
        if self.int8:
            self.rounded = RoundedProducts(self.graph, self.weights, self._tensor, rows)

    def _vector(self, name: str) -> str:
        return self._tensor(name, self.weights.floats(name))

    def _tensor(self, name: str, value: NDArray[Any]) -> str:
        self.tensors[name] = np.ascontiguousarray(value)
        return self.graph.external(name, value.dtype.type, value.shape)


def _chunks(rows: Rows) -> list[slice]:
    return [slice(start, start + CHUNK) for start in range(0, len(rows), CHUNK)]


def _session(content: bytes, tensors: dict[str, NDArray[Any]], threads: int, *, keep: bool = True) -> Any:
    """`keep`: the memory of one call for the next."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = keep
    options.log_severity_level = 4  # failures are raised, and said once
    # A thread that waits busily takes the processor from everything else.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in tensors.values()]
    options.add_external_initializers(list(tensors), values)
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
