"""A training that is cut off anywhere ends as one that is not."""

import multiprocessing
import random
import signal
from collections.abc import Callable
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest

pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")

from tests.training.run_and_die import tiny_job, train_and_die
from unshuffle.cli.train import train
from unshuffle.errors import ConfigError, DataError
from unshuffle.system.folder import load_model
from unshuffle.training.run import train_system


@pytest.fixture(scope="module")
def processes() -> BaseContext:
    """A fresh process that has imported everything, from which the others are forked: torch is imported once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.training.run_and_die", "lightning_fabric", "unshuffle.training.run"])
    return context


def run(
    processes: BaseContext, folder: Path, out: Path, *, system: str, after: int | None = None, most: int | None = None
) -> int | None:
    process = processes.Process(target=train_and_die, args=(folder, out, system, after, most))
    process.start()
    process.join()
    return process.exitcode


def model_bytes(out: Path) -> bytes:
    return (out / "model.safetensors").read_bytes()


@pytest.mark.parametrize("system", ["irse-grn"])
def test_a_training_killed_again_and_again_ends_with_the_same_weights(
    processes: BaseContext, tmp_path: Path, system: str, record_property: Callable[[str, object], None]
) -> None:
    assert run(processes, tmp_path, tmp_path / "whole", system=system) == 0
    draw = random.Random(7)
    killed, stages = 0, set()
    while (code := run(processes, tmp_path, tmp_path / "cut", system=system, after=draw.randint(1, 90))) != 0:
        assert code == -signal.SIGKILL
        if (tmp_path / "cut" / "config.json").exists():  # what looks like a model is one: death came just behind it
            assert load_model(str(tmp_path / "cut")).name == system
        killed += 1
        stages = {path.name.split("-")[0] for path in (tmp_path / "cut" / "stages").glob("*")}
        assert killed < 60
    assert killed >= 5 and stages == {"initial", "iterative", "ordering"}
    assert model_bytes(tmp_path / "cut") == model_bytes(tmp_path / "whole")
    assert load_model(str(tmp_path / "cut")).name == system
    record_property("kills", killed)


def test_a_full_disk_is_one_line_and_costs_nothing_that_was_saved(processes: BaseContext, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert run(processes, tmp_path, whole, system="se-grn") == 0
    assert run(processes, tmp_path, cut, system="se-grn", after=20) == -signal.SIGKILL
    (progress,) = cut.glob("stages/*/progress.json")
    before = progress.read_bytes()
    assert run(processes, tmp_path, cut, system="se-grn", most=20_000) == 0
    said = (tmp_path / "said").read_text()
    assert "it could not be written" in said and "what was there before is unharmed" in said and "\n" not in said
    assert progress.read_bytes() == before
    assert run(processes, tmp_path, cut, system="se-grn") == 0
    assert model_bytes(cut) == model_bytes(whole)


def test_a_finished_training_is_not_trained_again(tmp_path: Path) -> None:
    train_system(tiny_job(tmp_path, tmp_path / "out", system="se-grn"))
    before = model_bytes(tmp_path / "out")
    with pytest.raises(ConfigError, match="there is already a training") as error:
        train_system(tiny_job(tmp_path, tmp_path / "out", system="se-grn"))
    assert "\n" not in str(error.value)
    steps = []
    train_system(tiny_job(tmp_path, tmp_path / "out", system="se-grn", resume=True), steps.append)
    assert not steps and model_bytes(tmp_path / "out") == before
    train_system(tiny_job(tmp_path, tmp_path / "other", system="se-grn", seed=2))
    assert model_bytes(tmp_path / "other") != before


def test_figures_that_cannot_be_had_are_refused_before_the_training(tmp_path: Path) -> None:
    for split in ("train", "valid"):
        (tmp_path / f"{split}.jsonl").write_text('{"id": "a", "sentences": ["One.", "Two."]}\n')
    with pytest.raises(DataError, match="there is no test file") as error:
        train(system="se-grn", data=tmp_path, out=tmp_path / "out", results=tmp_path / "results")
    assert "\n" not in str(error.value) and not (tmp_path / "out").exists()
