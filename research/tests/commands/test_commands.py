"""The laboratory's commands pass on what they are given."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from unshuffle.cli import app


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
