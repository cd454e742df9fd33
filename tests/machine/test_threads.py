"""The number of threads: the user's wish first, then the surrounding program's, then few."""

from collections.abc import Iterator

import pytest
import torch

from unshuffle import machine
from unshuffle.errors import ConfigError
from unshuffle.machine import VARIABLE, use_threads


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = torch.get_num_threads()
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    yield
    torch.set_num_threads(before)


def test_a_small_network_takes_one_and_a_large_one_what_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "processors", lambda: 4)
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (1.2, 0.0, 0.0))
    torch.set_num_threads(4)
    assert use_threads(large=True) == 3
    torch.set_num_threads(4)
    assert use_threads(large=False) == 1
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (9.0, 0.0, 0.0))
    torch.set_num_threads(4)
    assert use_threads(large=True) == 1


def test_what_was_chosen_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "processors", lambda: 4)
    torch.set_num_threads(2)
    assert use_threads(large=False) == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    torch.set_num_threads(4)
    assert use_threads(large=False) == 4
    monkeypatch.setenv(VARIABLE, "3")
    assert use_threads(large=False) == 3


@pytest.mark.parametrize("wish", ["0", "many", "-1"])
def test_a_wish_that_is_no_number_is_named(monkeypatch: pytest.MonkeyPatch, wish: str) -> None:
    monkeypatch.setenv(VARIABLE, wish)
    with pytest.raises(ConfigError, match=VARIABLE):
        use_threads(large=False)
