"""An ONNX file comes from outside: only what our own export writes is let through to the runtime."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from unshuffle.errors import ConfigError

STANDARD = frozenset(
    {
        "Abs", "Add", "ConstantOfShape", "Gather", "Gelu", "LayerNormalization", "MatMul", "Max", "Mul",
        "QuantizeLinear", "ReduceMax", "Reshape", "Shape", "Softmax", "Split", "Transpose", "Unsqueeze",
    }
)  # fmt: skip
KINDS = {"": STANDARD, "ai.onnx": STANDARD, "com.microsoft": frozenset({"MatMulIntegerToFloat"})}
"""Operations that an encoder is made of, by domain: none calls a graph, reads a file or names a library."""

INPUTS = ("cells", "mask", "place", "states")
OTHER = "other"
"""A further input of layers in which parts of a text meet."""
OUTPUT = "answer"


def check_onnx(content: bytes, where: str) -> None:
    """Refuses files outside this one, graphs within graphs, functions, and operations that are not on the list."""
    onnx = import_module("onnx")
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:  # protobuf's own, of several classes
        raise ConfigError(
            f"{where}: not readable as ONNX ({type(error).__name__}). Download the model folder again."
        ) from None
    found = _fault(model, onnx.TensorProto.EXTERNAL)
    if found:
        raise ConfigError(f"{where}: {found}, which no encoder of this program has. Download the model folder again.")


def _fault(model: Any, external: int) -> str:
    """What is wrong with it, or nothing."""
    graph = model.graph
    if model.functions or model.training_info or graph.sparse_initializer or graph.quantization_annotation:
        return "it defines functions, training or annotations"
    names = sorted(value.name for value in graph.input if value.name != OTHER)
    if names != sorted(INPUTS) or [value.name for value in graph.output] != [OUTPUT]:
        return "it takes or gives other things"
    for node in graph.node:
        if node.op_type not in KINDS.get(node.domain, ()):
            return f"it has the operation {node.op_type[:40]!r}"
        for attribute in node.attribute:
            if attribute.HasField("g") or attribute.graphs:
                return "it has a graph within the graph"
            if attribute.HasField("sparse_tensor") or attribute.sparse_tensors:
                return "it has sparse numbers"
    tensors = [*graph.initializer, *(attribute.t for node in graph.node for attribute in node.attribute)]
    tensors += [tensor for node in graph.node for attribute in node.attribute for tensor in attribute.tensors]
    if any(tensor.data_location == external or tensor.external_data for tensor in tensors):
        return "it keeps numbers in other files"
    return ""
