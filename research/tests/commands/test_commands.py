"""The laboratory's commands pass on what they are given."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from unshuffle.cli import app
from unshuffle.text.readers.read import read_documents
from unshuffle_research.commands.held_out import held_out


def test_an_experiment_takes_the_seeds_that_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[int]] = []

    def noted(*given: object, seeds: Iterable[int], **options: object) -> list[Path]:
        asked.append(list(seeds))
        return []

    monkeypatch.setattr("unshuffle_research.experiments.run.run_experiment", noted)
    for options in ((), ("--seeds", "3"), ("--seeds", "1", "--first-seed", "2")):
        done = CliRunner().invoke(app, ["experiment", "main", "--data", f"nips={tmp_path}", *options])
        assert done.exit_code == 0, done.output
    assert asked == [[1], [1, 2, 3], [2]]


RECIPE = """
system = "se-grn"

[[mixture.sources]]
name = "short"
train = ["short.jsonl"]
valid = ["short.jsonl"]
share = 1.0
"""


def test_held_out_texts_are_files_that_calibrate_reads(tmp_path: Path) -> None:
    sentences = [[f"Text {number} goes on.", "It is long.", "It ends."] for number in range(5)]
    rows = (json.dumps({"id": str(number), "sentences": each}) for number, each in enumerate(sentences))
    (tmp_path / "short.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    held_out(str(tmp_path / "recipe.toml"), tmp_path, tmp_path / "out", most=3)
    documents = list(read_documents(tmp_path / "out" / "short.jsonl"))
    assert len(documents) == 3
    assert all(list(document.sentences) in sentences for document in documents)
