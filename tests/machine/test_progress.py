"""A bar is shown where it is wanted or can be seen, and nowhere else."""

import io
import sys
import time
import warnings
from collections.abc import Iterator
from types import ModuleType

import pytest

from unshuffle import machine
from unshuffle.machine import shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def work(count: int, seconds: float = 0.0) -> Iterator[int]:
    for number in range(count):
        time.sleep(seconds)
        yield number


@pytest.mark.parametrize("wanted", [None, False, True])
def test_results_pass_unchanged(wanted: bool | None, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(shown(work(5), [0] * 5, wanted, unit=" documents")) == list(range(5))
    assert capsys.readouterr().out == ""


def test_nothing_is_shown_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    list(shown(work(3), [0] * 3, None, unit=" documents"))
    assert capsys.readouterr().err == ""


def test_a_terminal_sees_a_bar_only_when_it_takes_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    list(shown(work(3), [0] * 3, None, unit=" documents"))
    assert machine.sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
    monkeypatch.setattr(machine, "DELAY", 0.05)
    list(shown(work(12, 0.03), [0] * 12, None, unit=" documents"))
    assert "documents" in machine.sys.stderr.getvalue()  # type: ignore[attr-defined]


def test_a_notebook_without_widgets_is_not_told_that_it_has_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(shown(work(3), [0] * 3, None, unit=" documents")) == [0, 1, 2]
    assert capsys.readouterr().err == ""
