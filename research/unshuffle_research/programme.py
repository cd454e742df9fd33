"""Run every experiment of configs/programme.toml, two at a time; what was done before is not done again.

`python -m unshuffle_research.programme --data FOLDER --runs FOLDER` goes on where it was cut off.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unshuffle.storage.files import read_json, write_json
from unshuffle_research import CONFIGS

PLAN = CONFIGS / "programme.toml"


@dataclass(frozen=True)
class Call:
    """One call, and those that have to be done before it."""

    name: str
    command: tuple[str, ...]
    after: tuple[str, ...] = ()


def calls_of(plan: Mapping[str, Any], data: Path, runs: Path, out: Path | None = None) -> list[Call]:
    """The commands behind a plan."""
    calls = []
    for name, said in plan["calls"].items():
        experiment, sets, *options = shlex.split(said.replace("{data}", str(data)))
        folders = [f"--data={one}={data / plan['folders'][one]}" for one in sets.split("+")]
        places = [f"--set=tokens.vectors={data / plan['vectors']}", f"--runs={runs}"]
        places += [f"--out={out}"] if out else []
        command = ("unshuffle", "experiment", experiment, *folders, *options, *places)
        calls.append(Call(name, command, tuple(plan.get("after", {}).get(name, ()))))
    return calls


def run(calls: Sequence[Call], runs: Path, workers: int) -> dict[str, int]:
    """Runs what is not done yet and gives every exit code; a call whose forerunner failed is left out."""
    kept = runs / "programme.json"
    done: dict[str, str] = read_json(kept) if kept.is_file() else {}
    waiting = [call for call in calls if done.get(call.name) != shlex.join(call.command)]
    chosen = {call.name for call in waiting}
    codes: dict[str, int] = {}
    going: dict[str, subprocess.Popen[bytes]] = {}
    (runs / "logs").mkdir(parents=True, exist_ok=True)
    # One thread each: two that share a processor's caches run far slower with more.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    while waiting or going:
        ready = [call for call in waiting if all(name not in chosen or codes.get(name) == 0 for name in call.after)]
        for call in ready[: workers - len(going)]:
            waiting.remove(call)
            with (runs / "logs" / f"{call.name}.log").open("wb") as log:
                going[call.name] = subprocess.Popen(call.command, stdout=log, stderr=log, env=environment)
            print(f"{time.strftime('%H:%M:%S')} begin {call.name}", flush=True)
        if not going:
            print(f"left out: {', '.join(call.name for call in waiting)}")
            break
        time.sleep(0.2)
        for name in [name for name, process in going.items() if process.poll() is not None]:
            codes[name] = going.pop(name).returncode
            print(f"{time.strftime('%H:%M:%S')} end {name}: exit code {codes[name]}", flush=True)
            if codes[name] == 0:
                done[name] = next(shlex.join(call.command) for call in calls if call.name == name)
                write_json(kept, done)
    return codes


def main() -> None:
    """Reads the arguments and runs the programme, or the calls that are named."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    options.add_argument("--runs", type=Path, default=Path("runs"), help="models, stages and logs")
    options.add_argument("--out", type=Path, help="folder of results, in place of research/results")
    options.add_argument("--workers", type=int, default=2, help="calls at a time")
    options.add_argument("--only", default="", help="names of calls, with commas")
    given = options.parse_args()
    calls = calls_of(tomllib.loads(PLAN.read_text(encoding="utf-8")), given.data, given.runs, given.out)
    wanted = [name for name in given.only.split(",") if name]
    if unknown := set(wanted) - {call.name for call in calls}:
        sys.exit(f"--only {', '.join(sorted(unknown))}: there is no such call in {PLAN.name}.")
    codes = run([call for call in calls if not wanted or call.name in wanted], given.runs, given.workers)
    sys.exit(int(any(codes.values())))


if __name__ == "__main__":
    main()
