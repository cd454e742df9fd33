"""A made-up data set, and a folder of models that all tests share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.corpora import tiny_settings, write_corpus
from unshuffle_research.experiments.run import run_experiment


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("made-up"))


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return tiny_settings(tmp_path_factory.mktemp("vectors"))


@pytest.fixture(scope="session")
def run(
    data: Path, tiny: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., tuple[Path, list[Path], list[str]]]:
    """Runs an experiment; gives the folder of results, the sheets, and the stages that were trained for it."""
    folder = tmp_path_factory.mktemp("experiments")

    def call(name: str, **options: Any) -> tuple[Path, list[Path], list[str]]:
        trained: list[str] = []
        given: dict[str, Any] = {"changes": tiny, "shuffles": 2, "beam": 2, "runs": folder / "runs"} | options
        out = options.pop("out", folder / "results")
        written = run_experiment(
            name,
            given.pop("data", [f"nips={data}"]),
            out,
            given.pop("runs"),
            progress=lambda progress: trained.append(progress.stage),
            **{key: value for key, value in given.items() if key != "out"},
        )
        return out, written, sorted(set(trained))

    return call
