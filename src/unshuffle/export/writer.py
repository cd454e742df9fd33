"""ONNX graphs, written node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshuffle.errors import MissingExtra

OPERATIONS = 20
"""Version of the standard's operations: the first with Gelu."""
FORMAT = 9
"""Version of the file format that belongs to it."""
Size = int | str


class GraphWriter:
    """Collects nodes and constants; every value has a number for a name."""

    def __init__(self) -> None:
        self._onnx = _onnx()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, values: NDArray[Any]) -> str:
        """The name of an array that is stored in the file."""
        name = f"constant{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def tensor(self, values: NDArray[Any]) -> Any:
        """An array as an attribute of a node."""
        return self._onnx.numpy_helper.from_array(values)

    def node(self, kind: str, *inputs: str, domain: str = "", name: str = "", **attributes: Any) -> str:
        """The name of an operation's only result."""
        return self.nodes(kind, inputs, (name or f"value{len(self._nodes)}",), domain=domain, **attributes)[0]

    def nodes(
        self, kind: str, inputs: Sequence[str], names: Sequence[str], *, domain: str = "", **attributes: Any
    ) -> Sequence[str]:
        """An operation with several results."""
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names

    def three(self, kind: str, value: str, **attributes: Any) -> Sequence[str]:
        """The three results of an operation."""
        names = [f"value{len(self._nodes)}-{number}" for number in range(3)]
        return self.nodes(kind, (value,), names, **attributes)

    def written(
        self, inputs: Mapping[str, tuple[type, Sequence[Size]]], outputs: Mapping[str, tuple[type, Sequence[Size]]]
    ) -> bytes:
        """The whole file."""
        helper = self._onnx.helper
        given, found = (
            [
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)
                for name, (kind, shape) in values.items()
            ]
            for values in (inputs, outputs)
        )
        graph = helper.make_graph(self._nodes, "encoder", given, found, self._constants)
        domains = [helper.make_opsetid("", OPERATIONS), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=domains, ir_version=FORMAT, producer_name="unshuffle")
        self._onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content


def _onnx() -> Any:
    try:
        for part in ("helper", "numpy_helper", "checker"):
            import_module(f"onnx.{part}")
        return import_module("onnx")
    except ModuleNotFoundError:
        raise MissingExtra("Acceleration", "onnx") from None
