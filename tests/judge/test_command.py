"""A judge on the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from tests.judge.stand_in import numbered, standing_in
from unshuffle.cli import main
from unshuffle.judge.contracts import Trust
from unshuffle.system.folder import save_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(tiny_model("se-grn", tmp_path, random_documents(4)), tmp_path / "model")
    return tmp_path / "model"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int | str | None:
    monkeypatch.setattr("sys.argv", ["unshuffle", *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


def test_order_asks_the_endpoint_and_tells_what_it_cost(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSHUFFLE_JUDGE_KEY", "secret-word")
    texts, out, trust = tmp_path / "texts.jsonl", tmp_path / "out.jsonl", tmp_path / "trust.json"
    texts.write_text(json.dumps({"id": "a", "sentences": numbered(4)[::-1]}) + "\n")
    trust.write_text(json.dumps(Trust(reliability=0.99, model_weight=0.05, sure=1.0).write()))
    with standing_in() as server:
        options = ["--judge", server.url, "--judge-model", "m", "--judge-cache", tmp_path / "answers"]
        for _ in range(2):
            code = run(
                monkeypatch, "order", texts, "-m", model, "-f", "json", "-o", out, *options, "--judge-trust", trust
            )
            assert not code
    found = json.loads(out.read_text())
    assert found["order"] == [3, 2, 1, 0]
    assert found["judged"]["spend"]["requests"] == 0 and found["judged"]["spend"]["cached"] == len(server.requests) > 0
    assert {headers["Authorization"] for headers in server.headers} == {"Bearer secret-word"}


def test_trust_is_fitted_and_written(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    texts, out = tmp_path / "valid.jsonl", tmp_path / "trust.json"
    rows = [{"id": str(number), "sentences": numbered(3, f"text {number}")} for number in range(12)]
    texts.write_text("\n".join(map(json.dumps, rows)) + "\n")
    with standing_in({"always_a": 1.0}) as server:
        judge = ["--judge", server.url, "--judge-model", "m"]
        assert not run(monkeypatch, "trust-judge", texts, "-m", model, *judge, "--out", out)
    assert not Trust.read(json.loads(out.read_text())).used
    assert "it does not help" in capfd.readouterr().out


def test_a_judge_that_is_down_costs_one_line_and_no_order(model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("\n".join(numbered(3)) + "\n")
    with standing_in() as server:
        url = server.url
    command = ["-m", "unshuffle", "order", tmp_path / "text.txt", "-m", model, "--judge", url, "--judge-model", "m"]
    ran = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0 and sorted(ran.stdout.splitlines()) == numbered(3)
    (line,) = ran.stderr.splitlines()
    assert line.startswith(f"unshuffle: judge {url}") and "refused" in line
