"""The programme of experiments: what it calls, in which order, and what it does not do twice."""

import sys
import tomllib
from pathlib import Path

from unshuffle.system.rows import system_names
from unshuffle_research.experiments.settings import experiment_names
from unshuffle_research.programme import PLAN, Call, calls_of, run


def test_every_experiment_and_every_system_is_called() -> None:
    plan = tomllib.loads(PLAN.read_text())
    calls = calls_of(plan, Path("data"), Path("runs"), Path("out"), Path("encoder"))
    assert len({call.name for call in calls}) == len(calls) == len(plan["calls"])
    assert {call.command[2] for call in calls} == set(experiment_names()) | set(plan["modules"].values())
    said = " ".join(" ".join(call.command) for call in calls).replace(",", " ").split()
    assert set(system_names()) <= set(said)
    names = {call.name for call in calls}
    assert all(set(call.after) <= names for call in calls)
    assert {*plan["after"], *plan["minutes"]} <= names
    assert {row for rows in plan["after"].values() for row in rows} <= names
    ranks = [(call.name in plan["later"], call.minutes) for call in calls]
    assert ranks == sorted(ranks) and set(plan["later"]) <= names


def test_settings_of_a_row_follow_it_into_every_call() -> None:
    plan = tomllib.loads(PLAN.read_text())
    with_encoder = {
        call.name: call.command for call in calls_of(plan, Path("d"), Path("r"), encoder=Path("larger/encoder"))
    }
    assert (
        "--set=berson:precision=bf16" in with_encoder["berson"]
        and "--set=berson:precision=bf16" in with_encoder["main"]
    )
    assert "--set=no-initial:training.folds=5" in with_encoder["ablation"]  # a variant has its system's
    assert "--set=irse-grn-fh-tuned:training.folds=5" in with_encoder["irse-grn-fh-tuned"]
    assert "--set=ranktxnet-base:sentence_encoder.source=larger/encoder" in with_encoder["ranktxnet-base"]
    without = {call.name for call in calls_of(plan, Path("d"), Path("r"))}
    assert set(with_encoder) - without == {"ranktxnet-base", "irse-grn-bert-fh-base", "controls"}


def test_what_gathers_is_done_every_time(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    gather = Call("gather", (sys.executable, "-c", f"open({str(trace)!r}, 'a').write('x')", "--no-train"))
    assert run([gather], tmp_path, 1) == run([gather], tmp_path, 1) == {"gather": 0}
    assert trace.read_text() == "xx"


def python(name: str, code: str, *after: str) -> Call:
    return Call(name, (sys.executable, "-c", code), after)


def test_calls_wait_for_what_they_need_and_are_not_made_twice(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    note = f"open({str(trace)!r}, 'a').write('{{}}\\n')"
    calls = [
        python("last", note.format("last"), "first", "second"),
        python("first", "import time; time.sleep(0.5);" + note.format("first")),
        python("second", note.format("second")),
        python("broken", "raise SystemExit(3)"),
        python("never", note.format("never"), "broken"),
    ]
    assert run(calls, tmp_path, 2) == {"first": 0, "second": 0, "last": 0, "broken": 3}
    assert trace.read_text().split() == ["second", "first", "last"]
    mended = [*calls[:3], python("broken", note.format("mended")), calls[4]]
    assert run(mended, tmp_path, 2) == {"broken": 0, "never": 0}
    assert trace.read_text().split()[3:] == ["mended", "never"]
