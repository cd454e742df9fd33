"""A stage's state on disk."""

import errno
import os
from pathlib import Path

import pytest
import torch
from torch import nn

from unshuffle.errors import ConfigError
from unshuffle.storage import files
from unshuffle.training.checkpoint import Checkpoint, Position, load_trained, trained_state
from unshuffle.training.config import TrainingConfig
from unshuffle.training.optimizers import build_optimizer


def module(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))


def config(optimizer: str = "adadelta") -> TrainingConfig:
    return TrainingConfig(optimizer=optimizer, learning_rate=0.1)  # type: ignore[arg-type]


def step(model: nn.Module, optimizer: torch.optim.Optimizer, seed: int) -> None:
    optimizer.zero_grad()
    model(torch.randn(5, 3, generator=torch.Generator().manual_seed(seed))).square().mean().backward()
    optimizer.step()


@pytest.mark.parametrize("kind", ["adadelta", "adamw", "adam"])
def test_going_on_is_as_never_having_stopped(kind: str, tmp_path: Path) -> None:
    model = module()
    optimizer = build_optimizer(model, config(kind))
    for seed in range(3):
        step(model, optimizer, seed)
    position = Position(epoch=1, step=3, loss=2.5, scores=(0.1 + 0.2, 7.0), minutes=1.5)
    best = {name: value + 1 for name, value in trained_state(model).items()}
    Checkpoint(tmp_path, "mine").save(position, model, optimizer, best)
    again = module(seed=9)
    resumed = build_optimizer(again, config(kind))
    found = Checkpoint(tmp_path, "mine").load(again, resumed)
    assert found is not None and found[0] == position
    assert all(torch.equal(value, best[name]) for name, value in found[1].items()) and found[1].keys() == best.keys()
    for seed in range(3, 6):
        step(model, optimizer, seed)
        step(again, resumed, seed)
    for one, other in zip(model.state_dict().values(), again.state_dict().values(), strict=True):
        assert torch.equal(one, other)


def test_a_state_of_other_settings_is_refused(tmp_path: Path) -> None:
    model = module()
    optimizer = build_optimizer(model, config())
    assert Checkpoint(tmp_path, "mine").load(model, optimizer) is None
    Checkpoint(tmp_path, "mine").save(Position(), model, optimizer, {})
    with pytest.raises(ConfigError, match="it belongs to a run with other settings or data") as error:
        Checkpoint(tmp_path, "another").load(model, optimizer)
    assert "\n" not in str(error.value)
    with pytest.raises(ConfigError, match="belongs to another system"):
        Checkpoint(tmp_path, "mine").load(nn.Linear(3, 4), optimizer)


def test_a_full_disk_leaves_the_old_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = module()
    optimizer = build_optimizer(model, config())
    checkpoint = Checkpoint(tmp_path, "mine")
    checkpoint.save(Position(step=1), model, optimizer, {})
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    expected = {name: value.clone() for name, value in model.state_dict().items()}
    real, calls = os.fsync, []

    for failing in (1, 2):  # the tensors, then the small file that names them
        step(model, optimizer, failing)
        calls.clear()

        def full(handle: int, failing: int = failing) -> None:
            calls.append(handle)
            if len(calls) == failing:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(handle)

        monkeypatch.setattr(files.os, "fsync", full)
        with pytest.raises(ConfigError, match=r"could not be written \(No space left on device\)") as error:
            checkpoint.save(Position(step=1 + failing), model, optimizer, {})
        assert "\n" not in str(error.value)
        monkeypatch.undo()
        after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        assert before.items() <= after.items()
        again = module(seed=9)
        found = Checkpoint(tmp_path, "mine").load(again, build_optimizer(again, config()))
        assert found is not None and found[0].step == 1
        assert all(torch.equal(value, expected[name]) for name, value in again.state_dict().items())


def test_only_the_newest_state_is_kept(tmp_path: Path) -> None:
    model = module()
    optimizer = build_optimizer(model, config())
    for number in range(4):
        Checkpoint(tmp_path, "mine").save(Position(step=number), model, optimizer, {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["progress.json", "state-0000-000003.safetensors"]


def test_a_damaged_state_is_one_line(tmp_path: Path) -> None:
    model = module()
    optimizer = build_optimizer(model, config())
    checkpoint = Checkpoint(tmp_path, "mine")
    checkpoint.save(Position(), model, optimizer, {})
    (state,) = tmp_path.glob("state-*")
    state.write_bytes(state.read_bytes()[:-10])
    with pytest.raises(ConfigError, match="not a whole safetensors file") as error:
        checkpoint.load(model, optimizer)
    assert "\n" not in str(error.value)
    state.unlink()
    with pytest.raises(ConfigError, match="the file is missing"):
        checkpoint.load(model, optimizer)


def test_what_is_not_trained_is_not_saved() -> None:
    model = module()
    model[0].requires_grad_(False)
    state = trained_state(model)
    assert "0.weight" not in state and "2.weight" in state and "1.running_mean" in state
    load_trained(model, {name: value + 1 for name, value in state.items()})
    with pytest.raises(ConfigError, match=r"2\.bias"):
        load_trained(model, {name: value for name, value in state.items() if name != "2.bias"})
