"""Only graphs that our own export could have written reach the runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from unshuffle.encoders.pretrained.bert import Bert
from unshuffle.encoders.pretrained.onnx_file import check_onnx
from unshuffle.encoders.pretrained.onnx_runner import OnnxRunner
from unshuffle.encoders.pretrained.runners import LayerRange
from unshuffle.errors import ConfigError

onnx = pytest.importorskip("onnx", reason="needs the 'onnx' extra")
pytest.importorskip("onnxruntime", reason="needs the 'onnx' extra")


@pytest.fixture(scope="module")
def content() -> bytes:
    from unshuffle.export.bert import bert_graph

    sizes = {"vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    return bert_graph(LayerRange.whole(Bert({**sizes, "intermediate_size": 8})), int8=True)


def kept_elsewhere(model: Any) -> None:
    tensor = model.graph.initializer[0]
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")


def foreign_operation(model: Any) -> None:
    model.graph.node.append(onnx.helper.make_node("Shell", ["states"], ["x"], domain="evil.example"))


def known_operation_of_another_domain(model: Any) -> None:
    model.graph.node[0].domain = "evil.example"


def loop(model: Any) -> None:
    body = onnx.helper.make_graph([], "body", [], [])
    model.graph.node.append(onnx.helper.make_node("Loop", ["", ""], ["x"], body=body))


def graph_in_a_known_operation(model: Any) -> None:
    body = onnx.helper.make_graph([], "body", [], [])
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("body", body))


def function(model: Any) -> None:
    opset = [onnx.helper.make_opsetid("", 20)]
    model.functions.append(onnx.helper.make_function("com.microsoft", "Add", ["a"], ["b"], [], opset))


def other_inputs(model: Any) -> None:
    model.graph.input[0].name = "words"


def test_what_the_export_writes_is_let_through(content: bytes) -> None:
    check_onnx(content, "here")


@pytest.mark.parametrize(
    "change",
    [
        kept_elsewhere,
        foreign_operation,
        known_operation_of_another_domain,
        loop,
        graph_in_a_known_operation,
        function,
        other_inputs,
    ],
)
def test_anything_else_is_refused_in_one_line(content: bytes, change: Callable[[Any], None]) -> None:
    model = onnx.load_model_from_string(content)
    change(model)
    with pytest.raises(ConfigError, match=r"^here: it .*Download the model folder again\.$"):
        OnnxRunner(model.SerializeToString(), where="here")


@pytest.mark.parametrize("keep", [0, 0.5, 0.99])
def test_a_truncated_file_is_one_line(content: bytes, keep: float) -> None:
    with pytest.raises(ConfigError, match=r"^here: [^\n]*\.$"):
        OnnxRunner(content[: int(keep * len(content))], where="here")


def test_a_graph_that_cannot_run_is_one_line(content: bytes) -> None:
    model = onnx.load_model_from_string(content)
    model.graph.node[-1].input[0] = "nowhere"
    with pytest.raises(ConfigError, match=r"^here: ONNX Runtime cannot run it \([^\n]*\)\."):
        OnnxRunner(model.SerializeToString(), where="here")
