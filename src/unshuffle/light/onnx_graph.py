"""ONNX graphs, written node by node in the format's own wire encoding.

The graphs are small and their tensors stay outside, so a few message fields are all that is needed; the `onnx` package
would be the largest dependency of the core and take longer to import than a document takes to be ordered.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPERATORS = 20
"""Version of the standard operators: the first with Gelu."""
FORMAT = 9
"""Version of the file format that goes with it."""
KINDS: dict[type, int] = {np.float32: 1, np.uint8: 2, np.int8: 3, np.int64: 7}
"""Numbers of the element types."""
EXTERNAL = 1

Shape = Sequence[int | str]
Attribute = int | float | Sequence[int] | np.uint8


class OnnxGraph:
    """Collects nodes; every value has a number for a name, every tensor the caller's."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._tensors: dict[str, bytes] = {}

    def external(self, name: str, kind: type, shape: Sequence[int]) -> str:
        """A tensor that the runtime is handed when the graph is loaded."""
        place = _text(1, "location") + _text(2, "none")
        fields = [*(_number(1, size) for size in shape), _number(2, KINDS[kind]), _text(8, name)]
        self._tensors[name] = b"".join([*fields, _message(13, place), _number(14, EXTERNAL)])
        return name

    def constant(self, value: NDArray[Any]) -> str:
        """A small tensor that is part of the graph."""
        name = f"constant{len(self._tensors)}"
        self._tensors[name] = _tensor(value) + _text(8, name)
        return name

    def node(self, kind: str, *inputs: str, domain: str = "", name: str = "", **attributes: Attribute) -> str:
        """The name of an operator's only output."""
        return self.nodes(kind, inputs, (name or f"value{len(self._nodes)}",), domain=domain, **attributes)[0]

    def nodes(
        self, kind: str, inputs: Sequence[str], outputs: Sequence[str], *, domain: str = "", **attributes: Attribute
    ) -> Sequence[str]:
        """An operator with several outputs."""
        fields = [*(_text(1, value) for value in inputs), *(_text(2, value) for value in outputs), _text(4, kind)]
        fields += [_message(5, _attribute(name, value)) for name, value in attributes.items()]
        self._nodes.append(b"".join([*fields, _text(7, domain)] if domain else fields))
        return outputs

    def written(self, inputs: Mapping[str, tuple[type, Shape]], outputs: Mapping[str, tuple[type, Shape]]) -> bytes:
        """The whole file."""
        graph = b"".join(
            [
                *(_message(1, node) for node in self._nodes),
                _text(2, "encoder"),
                *(_message(5, tensor) for tensor in self._tensors.values()),
                *(_message(11, _value(name, kind, shape)) for name, (kind, shape) in inputs.items()),
                *(_message(12, _value(name, kind, shape)) for name, (kind, shape) in outputs.items()),
            ]
        )
        operators = [
            _text(1, domain) + _number(2, version) for domain, version in (("", OPERATORS), ("com.microsoft", 1))
        ]
        return b"".join([_number(1, FORMAT), *(_message(8, each) for each in operators), _message(7, graph)])


def _value(name: str, kind: type, shape: Shape) -> bytes:
    sizes = (_message(1, _text(2, size) if isinstance(size, str) else _number(1, size)) for size in shape)
    tensor = _number(1, KINDS[kind]) + _message(2, b"".join(sizes))
    return _text(1, name) + _message(2, _message(1, tensor))


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, np.uint8):
        return _text(1, name) + _message(5, _tensor(np.array([value]))) + _number(20, 4)
    if isinstance(value, float):
        return _text(1, name) + _key(2, 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, 2)
    return _text(1, name) + b"".join(_number(8, each) for each in value) + _number(20, 7)


def _tensor(value: NDArray[Any]) -> bytes:
    sizes = b"".join(_number(1, size) for size in value.shape)
    return sizes + _number(2, KINDS[value.dtype.type]) + _message(9, np.ascontiguousarray(value).tobytes())


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())


def _message(field: int, content: bytes) -> bytes:
    return _key(field, 2) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value % 2**64)  # negative numbers are written in two's complement


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])
