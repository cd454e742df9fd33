"""A folder in 8 bits is written when its orders are as good, and not otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from tests.export.conftest import Tiny
from unshuffle.encoders.pretrained.bert import Bert
from unshuffle.encoders.pretrained.runners import LayerRange
from unshuffle.errors import ConfigError
from unshuffle.export import accelerate as part
from unshuffle.export.accelerate import accelerate
from unshuffle.export.bert import bert_graph
from unshuffle.system.folder import load_model, save_model
from unshuffle.system.orderer import Orderer


def orders(orderer: Orderer, tiny: Tiny) -> list[tuple[int, ...]]:
    return [ordering.order for ordering in orderer.order_many(tiny.documents)]


def damaged(stretch: LayerRange, *, int8: bool) -> bytes:
    """As an export would be that takes the wrong numbers."""
    other = Bert(
        {
            "vocab_size": 9,
            "hidden_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 16,
        }
    )
    with torch.no_grad():
        for value in other.parameters():
            value.normal_()
    return bert_graph(LayerRange.whole(other), int8=int8)


def test_the_folder_is_whole_and_says_what_was_measured(tiny: Tiny, fast: Path) -> None:
    names = {file.name for file in fast.iterdir()}
    assert {file.name for file in tiny.plain.iterdir()} | {"encoder.onnx", "acceleration.json"} == names
    assert (fast / "model.safetensors").read_bytes() == (tiny.plain / "model.safetensors").read_bytes()
    told = json.loads((fast / "acceleration.json").read_text())
    assert told["tau"]["plain"] == 100 and told["documents"] == 16 and told["ratio"]["int8"] > 0
    assert told["tau_error"]["plain"] == 0 and 0 <= told["tau_error"]["int8"] < 50
    assert told["sizes"]["after"] > told["sizes"]["before"] and "onnxruntime" in told["versions"]
    assert [file.name for file in fast.parent.iterdir()] == ["fast"]  # nothing temporary is left


def test_8_bits_order_nearly_alike(tiny: Tiny, fast: Path) -> None:
    assert json.loads((fast / "acceleration.json").read_text())["tau"]["int8"] > 60
    orderer = Orderer.from_pretrained(fast)
    expected = orders(Orderer.from_pretrained(tiny.plain), tiny)
    assert sum(one == other for one, other in zip(orders(orderer, tiny), expected, strict=True)) >= 8
    assert orders(Orderer.from_pretrained(fast, accelerated=False), tiny) == expected


def test_a_damaged_export_is_refused_and_leaves_nothing(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "bert_graph", damaged)
    with pytest.raises(ConfigError, match=r"tau would fall from 100\.00 to .*more than 0\.3.*Nothing was written"):
        accelerate(str(tiny.plain), tmp_path / "new" / "fast", tiny.documents)
    assert list((tmp_path / "new").iterdir()) == []


def test_a_folder_that_is_there_is_not_touched(tiny: Tiny, fast: Path) -> None:
    with pytest.raises(ConfigError, match="something is there already"):
        accelerate(str(tiny.plain), fast, tiny.documents)


def test_a_model_without_a_bert_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    from tests.fixtures.tiny import save_tiny

    with pytest.raises(ConfigError, match="no encoder that can be accelerated"):
        accelerate(str(save_tiny(tmp_path / "plain")), tmp_path / "fast", tiny.documents)


def test_another_model_saved_over_it_runs_its_own_weights(tiny: Tiny, fast: Path, tmp_path: Path) -> None:
    import shutil

    folder = Path(shutil.copytree(fast, tmp_path / "model"))
    save_model(load_model(str(fast)), folder)
    orderer = Orderer.from_pretrained(folder)
    assert not orderer.model.network.sentence_encoder.pieces.runners  # type: ignore[union-attr]
