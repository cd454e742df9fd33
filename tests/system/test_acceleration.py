"""What a folder in 8 bits does at loading: it is checked, and works without the runtime too."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
import torch

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import shared_model
from unshuffle.encoders.pretrained.onnx_runner import OnnxRunner
from unshuffle.encoders.pretrained.pieces import Pieces
from unshuffle.errors import ConfigError
from unshuffle.export.accelerate import write_folder
from unshuffle.system import acceleration
from unshuffle.system.folder import load_model, save_model
from unshuffle.system.orderer import Orderer

DOCUMENTS = random_documents(6, sentences=(2, 5), seed=8)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    save_model(shared_model("irse-grn-bert-fh"), folder)
    return folder


@pytest.fixture
def folder(plain: Path, tmp_path: Path) -> Path:
    for package in ("onnx", "onnxruntime"):
        pytest.importorskip(package, reason="needs the 'onnx' extra")
    (tmp_path / "fast").mkdir()
    write_folder(load_model(str(plain)).network, plain, tmp_path / "fast")
    return tmp_path / "fast"


def pieces(orderer: Orderer) -> Pieces:
    found = orderer.model.network.sentence_encoder.pieces
    assert isinstance(found, Pieces)
    return found


def all_run_by_onnx(orderer: Orderer) -> bool:
    runners = [
        runner
        for part in orderer.model.network.modules()
        if isinstance(part, Pieces)
        for runner in part.runners.values()
    ]
    return bool(runners) and all(isinstance(runner, OnnxRunner) for runner in runners)


def orders(orderer: Orderer) -> list[tuple[int, ...]]:
    return [ordering.order for ordering in orderer.order_many(DOCUMENTS)]


def test_the_file_is_used_by_itself(folder: Path, plain: Path) -> None:
    assert all_run_by_onnx(Orderer.from_pretrained(folder))
    assert not pieces(Orderer.from_pretrained(folder, accelerated=False)).runners
    assert not pieces(Orderer.from_pretrained(plain)).runners


def test_threads_are_those_of_torch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    chosen = []

    class Options(onnxruntime.SessionOptions):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            chosen.append(self)

    monkeypatch.setattr(onnxruntime, "SessionOptions", Options)
    Orderer.from_pretrained(folder)
    assert [options.intra_op_num_threads for options in chosen] == [2]


def test_a_changed_byte_is_noticed(folder: Path) -> None:
    content = bytearray((folder / "encoder.onnx").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "encoder.onnx").write_bytes(bytes(content))
    with pytest.raises(ConfigError, match=r"encoder\.onnx: not as it was written with config\.json"):
        Orderer.from_pretrained(folder)


def test_a_missing_file_is_one_line(folder: Path) -> None:
    (folder / "encoder.onnx").unlink()
    with pytest.raises(ConfigError, match=r"encoder\.onnx: it cannot be read \(No such file.*\)"):
        Orderer.from_pretrained(folder)


def test_a_file_larger_than_the_encoder_is_not_read(folder: Path) -> None:
    with (folder / "encoder.onnx").open("r+b") as file:
        file.truncate(2**31)  # a hole: it takes no room
    with pytest.raises(ConfigError, match=r"encoder\.onnx: it is larger than"):
        Orderer.from_pretrained(folder)


def test_a_file_of_other_sizes_is_one_line(folder: Path) -> None:
    from unshuffle.encoders.pretrained.bert import Bert
    from unshuffle.encoders.pretrained.runners import LayerRange
    from unshuffle.export.bert import bert_graph

    sizes = {"vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    content = bert_graph(LayerRange.whole(Bert({**sizes, "intermediate_size": 8})), int8=True)
    (folder / "encoder.onnx").write_bytes(content)
    described = json.loads((folder / "config.json").read_text())
    described["sha256"]["encoder.onnx"] = hashlib.sha256(content).hexdigest()
    (folder / "config.json").write_text(json.dumps(described))
    with pytest.raises(ConfigError, match=r"encoder\.onnx: ONNX Runtime cannot run it"):
        Orderer.from_pretrained(folder).order(["one", "two"])


def test_without_the_runtime_torch_runs_the_weights_and_one_line_says_so(
    folder: Path, plain: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(acceleration, "onnx_is_here", lambda: False)
    assert orders(Orderer.from_pretrained(folder)) == orders(Orderer.from_pretrained(plain))
    (line,) = caplog.messages
    assert "pip install 'unshuffle[onnx]'" in line and "\n" not in line


def test_each_encoder_has_a_file_of_its_own(plain: Path, folder: Path, tmp_path: Path) -> None:
    from tests.fixtures.systems import tiny_model

    model = tiny_model("irse-grn-bert-fh", tmp_path, changes=["refiner.encoder=own"])
    with torch.no_grad():  # all start from the same file
        for value in model.network.parameters():
            value.add_(torch.randn_like(value), alpha=0.01)
    save_model(model, tmp_path / "own")
    (tmp_path / "own-fast").mkdir()
    write_folder(model.network, tmp_path / "own", tmp_path / "own-fast")
    names = sorted(file.name for file in (tmp_path / "own-fast").glob("*.onnx"))
    assert names == ["encoder-2.onnx", "encoder-3.onnx", "encoder.onnx"]
    assert len({(tmp_path / "own-fast" / name).read_bytes() for name in names}) == 3
    assert len(orders(Orderer.from_pretrained(tmp_path / "own-fast"))) == len(DOCUMENTS)


def test_a_copy_of_the_folder_works_elsewhere(folder: Path, tmp_path: Path) -> None:
    moved = Path(shutil.move(folder, tmp_path / "moved"))
    assert all_run_by_onnx(Orderer.from_pretrained(moved))
