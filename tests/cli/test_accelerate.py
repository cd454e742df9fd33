import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.fixtures.documents import STORIES
from tests.fixtures.systems import shared_model
from unshuffle.system.folder import save_model


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    for package in ("onnx", "onnxruntime"):
        pytest.importorskip(package, reason="needs the 'onnx' extra")
    save_model(shared_model("irse-grn-bert-fh"), tmp_path / "bert")
    return tmp_path / "bert"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows = [json.dumps({"id": str(number), "sentences": story}) for number, story in enumerate(STORIES)]
    (tmp_path / "true.jsonl").write_text("\n".join(rows))
    return tmp_path / "true.jsonl"


def test_accelerate_writes_a_folder_and_its_figures(run: Run, bert: Path, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "fast"
    options = ("--check", corpus, "--held", 6, "--most-lost", 200, "--results", tmp_path / "found.json")
    answer = run("accelerate", bert, "--out", out, *options)
    assert answer.code == 0, answer.err
    assert "plain" in answer.out and "int8" in answer.out and "MB" in answer.out
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["documents"] == 6 and set(found["tau"]) == set(found["ratio"]) == {"plain", "int8"}
    assert {"command", "commit", "versions"} <= set(found)
    assert run("order", "-m", out, stdin="\n".join(STORIES[0])).code == 0


def test_accelerate_refuses_in_one_line(
    run: Run, bert: Path, model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "fast"
    assert "no encoder that can be accelerated" in run("accelerate", model, "--out", out, "--check", corpus).complaint
    assert "already" in run("accelerate", bert, "--out", bert, "--check", corpus).complaint
    (tmp_path / "empty.jsonl").write_text("")
    assert "no document" in run("accelerate", bert, "--out", out, "--check", tmp_path / "empty.jsonl").complaint
    monkeypatch.setattr("unshuffle.export.accelerate.onnx_is_here", lambda: False)
    said = run("accelerate", bert, "--out", out, "--check", corpus).complaint
    assert "pip install 'unshuffle[onnx]'" in said and not out.exists()
