"""The programme of experiments: what it calls, in which order, and what it does not do twice."""

import sys
import tomllib
from pathlib import Path

from unshuffle.system.rows import system_names
from unshuffle_research.experiments.settings import experiment_names
from unshuffle_research.programme import PLAN, Call, calls_of, run


def test_every_experiment_and_every_system_is_called() -> None:
    calls = calls_of(tomllib.loads(PLAN.read_text()), Path("data"), Path("runs"), Path("out"))
    assert len({call.name for call in calls}) == len(calls)
    assert {call.command[2] for call in calls} == set(experiment_names())
    said = " ".join(" ".join(call.command) for call in calls).replace(",", " ").split()
    assert set(system_names()) <= set(said)
    names = {call.name for call in calls}
    assert all(set(call.after) <= names for call in calls)


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
