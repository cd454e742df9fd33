"""Run every training and experiment of configs/programme.toml that is missing, one process a core, cheapest first.

`python -m unshuffle_research.programme --data FOLDER --runs FOLDER --encoder FOLDER --cores 2` goes on where it was cut
off; `--list` tells what it would do. Results and orders are written as each training ends.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unshuffle.storage.files import read_json, write_json
from unshuffle_research import CONFIGS, RESULTS
from unshuffle_research.experiments.settings import load_settings

PLAN = CONFIGS / "programme.toml"
ENCODER = "{encoder}"
GATHERS = "--no-train"
"""A call with this option trains nothing and is made every time, for there may be more to gather."""


@dataclass(frozen=True)
class Call:
    """One call, those that have to be done before it, and the minutes that it is thought to take."""

    name: str
    command: tuple[str, ...]
    after: tuple[str, ...] = ()
    minutes: float = 0.0


def calls_of(
    plan: Mapping[str, Any], data: Path, runs: Path, out: Path | None = None, encoder: Path | None = None
) -> list[Call]:
    """The commands behind a plan, cheapest first, those for `later` last; what needs an encoder is left out without."""
    calls = []
    for name, said in plan["calls"].items():
        experiment, sets, *options = shlex.split(said.replace("{data}", str(data)))
        folders = [f"--data={one}={data / plan['folders'][one]}" for one in sets.split("+")]
        shared = [f"--set=tokens.vectors={data / plan['vectors']}", f"--runs={runs}"]
        if experiment in plan["modules"]:
            command = [sys.executable, "-m", plan["modules"][experiment], *folders, *options, *shared]
            command += [f"--out={runs / experiment}", f"--results={(out or RESULTS) / 'leaks-trained'}"]
        else:
            changes = [f"--set={change}" for change in settings_of(plan, experiment, options)]
            command = ["unshuffle", "experiment", experiment, *folders, *options, *changes, *shared]
            command += [f"--out={out}"] if out else []
        if encoder is not None:
            command = [word.replace(ENCODER, str(encoder)) for word in command]
        if not any(ENCODER in word for word in command):
            minutes = float(plan.get("minutes", {}).get(name, 0.0))
            calls.append(Call(name, tuple(command), tuple(plan.get("after", {}).get(name, ())), minutes))
    there = {call.name for call in calls}
    calls = [replace(call, after=tuple(name for name in call.after if name in there)) for call in calls]
    return sorted(calls, key=lambda call: (call.name in plan["later"], call.minutes))


def settings_of(plan: Mapping[str, Any], experiment: str, options: Sequence[str]) -> Iterator[str]:
    """`ROW:table.option=value` for every row of a call that has settings of its own; a variant has its system's."""
    settings = load_settings(experiment)
    chosen = options[options.index("--systems") + 1].split(",") if "--systems" in options else []
    rows = {variant.name: variant.system or settings.systems[0] for variant in settings.variants}
    rows = rows or {row: row for row in settings.systems}
    for row in chosen or rows:
        own: Sequence[str] = plan["settings"].get(row, plan["settings"].get(rows.get(row, row), ()))
        yield from (f"{row}:{change}" for change in own)


def waiting_of(calls: Sequence[Call], runs: Path) -> list[Call]:
    """The calls that were not done yet, or were done as another command."""
    kept = runs / "programme.json"
    done: dict[str, str] = read_json(kept) if kept.is_file() else {}
    return [call for call in calls if done.get(call.name) != shlex.join(call.command)]


def run(calls: Sequence[Call], runs: Path, cores: int) -> dict[str, int]:
    """Runs what is not done yet and gives every exit code; a call whose forerunner failed is left out."""
    kept = runs / "programme.json"
    done: dict[str, str] = read_json(kept) if kept.is_file() else {}
    waiting = waiting_of(calls, runs)
    chosen = {call.name for call in waiting}
    codes: dict[str, int] = {}
    going: dict[str, subprocess.Popen[bytes]] = {}
    (runs / "logs").mkdir(parents=True, exist_ok=True)
    # One thread each: two that share a processor's caches run far slower with more.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    while waiting or going:
        ready = [call for call in waiting if all(name not in chosen or codes.get(name) == 0 for name in call.after)]
        for call in ready[: cores - len(going)]:
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
            command = next(call.command for call in calls if call.name == name)
            if codes[name] == 0 and GATHERS not in command:
                done[name] = shlex.join(command)
                write_json(kept, done)
    return codes


def main() -> None:
    """Reads the arguments and runs the programme, or the calls that are named."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    options.add_argument("--runs", type=Path, default=Path("runs"), help="models, stages and logs")
    options.add_argument("--out", type=Path, help="folder of results, in place of research/results")
    options.add_argument("--encoder", type=Path, help="folder of an encoder of BERT's size, such as all-mpnet-base-v2")
    options.add_argument("--cores", type=int, default=2, help="calls at a time, one thread each")
    options.add_argument("--only", default="", help="names of calls, with commas")
    options.add_argument("--list", action="store_true", help="tell what is missing and how long it may take")
    given = options.parse_args()
    plan = tomllib.loads(PLAN.read_text(encoding="utf-8"))
    calls = calls_of(plan, given.data, given.runs, given.out, given.encoder)
    wanted = [name for name in given.only.split(",") if name]
    if unknown := set(wanted) - {call.name for call in calls}:
        sys.exit(f"--only {', '.join(sorted(unknown))}: there is no such call in {PLAN.name}, or it needs --encoder.")
    calls = [call for call in calls if not wanted or call.name in wanted]
    if given.list:
        for call in waiting_of(calls, given.runs):
            print(f"{call.minutes:6.0f} min  {call.name}: {shlex.join(call.command)}")
        return
    sys.exit(int(any(run(calls, given.runs, given.cores).values())))


if __name__ == "__main__":
    main()
