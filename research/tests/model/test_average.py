"""Weights of several trainings, averaged."""

from pathlib import Path

import pytest
import torch

from tests.fixtures.tiny import save_tiny
from unshuffle.errors import ConfigError
from unshuffle.system.folder import load_model
from unshuffle_research.model.average import write_average


def test_the_average_is_a_model_between_both(tmp_path: Path) -> None:
    folders = [save_tiny(tmp_path / str(seed), seed=seed) for seed in (0, 1)]
    write_average(folders, tmp_path / "mean")
    one, other, mean = (load_model(str(folder)).network.state_dict() for folder in (*folders, tmp_path / "mean"))
    assert any(not torch.equal(one[name], other[name]) for name in one)
    for name in one:
        torch.testing.assert_close(mean[name], (one[name] + other[name]) / 2)


def test_models_of_different_systems_are_refused(tmp_path: Path) -> None:
    folders = [save_tiny(tmp_path / "a"), save_tiny(tmp_path / "b", refiner=None)]
    with pytest.raises(ConfigError, match="another system"):
        write_average(folders, tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
