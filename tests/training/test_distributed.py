"""Two processes train what one would: the same documents at each step, the same gradients, one set of files."""

import json
import multiprocessing
import signal
import socket
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")

from tests.training.run_distributed import train_as_told
from unshuffle.errors import ConfigError
from unshuffle.storage.files import read_tensors
from unshuffle.training.loop import Drawn
from unshuffle.training.processes import Launched

if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("needs a torch with gloo", allow_module_level=True)


@pytest.fixture(scope="module")
def context() -> BaseContext:
    """Processes forked from one that has imported everything."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["tests.training.run_distributed", "lightning_fabric", "unshuffle.training.run"])
    return found


@dataclass(frozen=True)
class Runner:
    """Trains in so many processes, with the variables that torchrun sets."""

    context: BaseContext
    folder: Path

    def __call__(self, name: str, system: str, *, ranks: int, steps: int | None = None) -> dict[str, Any]:
        """What the leading process wrote down; it is killed after so many steps."""
        out = self.folder / name
        out.mkdir(exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        processes = []
        for rank in range(ranks):
            told = {"TORCHELASTIC_RUN_ID": "test", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            told |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "GROUP_RANK": "0"}
            told |= {"WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks)}
            arguments = (self.folder, out, system, steps, told if ranks > 1 else {})
            processes.append(self.context.Process(target=train_as_told, args=arguments))
            processes[-1].start()
        processes[0].join(300)
        if processes[0].exitcode != 0:  # as torchrun does: one is gone, so the others are ended
            for process in processes:
                process.kill()
        for process in processes:
            process.join()
        assert processes[0].exitcode == (0 if steps is None else -signal.SIGKILL)
        found: dict[str, Any] = json.loads((out / "rows.json").read_text())
        return found

    def assert_alike(self, one: str, other: str) -> None:
        """Weights and gradients to rounding."""
        mine, theirs = (read_tensors(self.folder / name / "model.safetensors") for name in (one, other))
        assert mine.keys() == theirs.keys()
        for name, value in mine.items():
            torch.testing.assert_close(
                theirs[name], value, atol=1e-5, rtol=0, msg=lambda said, at=name: f"{at}: {said}"
            )

    def assert_same_gradients(self, one: str, other: str) -> None:
        """At every step of every stage."""
        mine, theirs = (read_tensors(self.folder / name / "gradients") for name in (one, other))
        assert mine.keys() == theirs.keys() and max(float(value.abs().max()) for value in mine.values()) > 0.01
        for name, value in mine.items():
            torch.testing.assert_close(theirs[name], value, atol=1e-5, rtol=0)


@pytest.fixture
def run(context: BaseContext, tmp_path: Path) -> Runner:
    return Runner(context, tmp_path)


def written(out: Path) -> set[Path]:
    return {path.relative_to(out) for path in out.rglob("*.*") if "log" not in path.parts}


def test_two_processes_train_what_one_does_and_one_goes_on_where_two_were_cut_off(run: Runner) -> None:
    """All stages of the system with the most of them: both classifiers, then the ordering model."""
    alone = run("alone", "irse-grn", ranks=1)
    both = run("both", "irse-grn", ranks=2)
    assert both["seen"] == alone["seen"] and len(alone["seen"]) > 8
    run.assert_same_gradients("alone", "both")
    run.assert_alike("alone", "both")
    for one, two in zip(alone["rows"], both["rows"], strict=True):
        assert one[:3] == two[:3] and two[3:] == pytest.approx(one[3:], abs=1e-4)  # losses and scores
    assert written(run.folder / "alone") == written(run.folder / "both")
    first = run("cut", "irse-grn", ranks=2, steps=8)
    then = run("cut", "irse-grn", ranks=1)
    assert first["seen"] == alone["seen"][: len(first["seen"])]
    assert then["seen"] == alone["seen"][-len(then["seen"]) :] and len(then["seen"]) < len(alone["seen"])
    run.assert_alike("alone", "cut")


@pytest.mark.slow
@pytest.mark.parametrize("system", ["l-tsort", "han"])
def test_other_losses_are_shared_out_rightly_too(run: Runner, system: str) -> None:
    run("alone", system, ranks=1)
    run("both", system, ranks=2)
    run.assert_same_gradients("alone", "both")
    run.assert_alike("alone", "both")


def test_shares_of_a_step_make_up_the_whole_and_nobody_is_without_a_document() -> None:
    items = tuple(f"item {number}" for number in range(7))
    orders = tuple((number,) for number in range(7))
    for ranks in (1, 2, 3, 7, 9):
        whole = Drawn(items, orders, 5)  # type: ignore[arg-type]
        shares = [whole.share(rank, ranks) for rank in range(ranks)]
        assert [item for share in shares if not share.idle for item in share.items] == list(items)
        assert all(len(share.items) == len(share.orders) >= 1 for share in shares)
        mean = torch.tensor(3.0)
        weighed = [share.weighed(mean, len(share.items), 7) for share in shares]
        assert float(sum(weighed)) / ranks == pytest.approx(3.0)
    assert np.isclose(max(len(share.items) for share in shares), 1)


def test_what_torchrun_says_is_read_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    assert Launched.read() == Launched(1, 1, 1)
    monkeypatch.setenv("WORLD_SIZE", "6")
    assert Launched.read() == Launched(1, 1, 1)  # a scheduler's variable alone is no torchrun
    monkeypatch.setenv("LOCAL_RANK", "0")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert Launched.read() == Launched(6, 3, 2)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    with pytest.raises(ConfigError, match="as many processes"):
        Launched.read()
    monkeypatch.setenv("WORLD_SIZE", "many")
    with pytest.raises(ConfigError, match="not whole numbers"):
        Launched.read()
