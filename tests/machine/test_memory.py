"""Freed memory: kept for training, given back by a service."""

import gc
import subprocess
import sys

import pytest

from unshuffle import machine

RESIDENT = """
import re
def resident():
    return int(re.findall(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[0]) // 1024
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library of Linux is asked")
def test_scattered_free_memory_goes_back_to_the_system() -> None:
    code = RESIDENT + (
        "from unshuffle.machine import hand_back\n"
        "held = [bytearray(60_000) for _ in range(4_000)]\n"  # too small to be mapped on their own
        "full = resident()\n"
        "del held[1:-1]\n"  # the last one keeps the heap from shrinking by itself
        "before = resident()\n"
        "asked = hand_back()\n"
        "print(asked, full, before, resident())\n"
    )
    asked, full, before, after = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    if asked == "False":
        pytest.skip("the C library has no malloc_trim")
    assert int(before) > int(full) - 50
    assert int(after) < int(before) - 150


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.sys, "platform", "win32")
    assert not machine.keep_memory()
    assert not machine.hand_back()


def test_what_is_loaded_is_taken_to_last_once_work_is_under_way() -> None:
    before = gc.get_freeze_count()
    try:
        passed = machine.settled(range(5), after=3)
        assert [next(passed), next(passed), next(passed)] == [0, 1, 2]
        assert gc.get_freeze_count() == before
        assert list(passed) == [3, 4]
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()
