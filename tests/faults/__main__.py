"""Break things on purpose and count: `python -m tests.faults [--inputs 100000] [--quick]`.

Runs the attacks and the fault tests (hostile model folders and requests, writes that fail, killed processes), fuzzes,
lets honest clients wait beside a hostile one, and prints by class how many cases there were. Leaves with 1 where
anything broke or was lost, or where there were fewer cases than planned.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.faults.fairness import MOST, fairness
from unshuffle.evaluation.results import commit, versions

ROOT = Path(__file__).parents[2]
GROUPS = {
    "attacks: descriptions of transformers": [
        "tests/attacks/test_model_description.py", "tests/attacks/test_light_model.py",
    ],
    "attacks: tokenizers": ["tests/attacks/test_tokenizer_file.py"],
    "attacks: files of model folders": ["tests/attacks/test_model_files.py"],
    "attacks: names of parsers": ["tests/attacks/test_parser_names.py"],
    "attacks: endless text, closed streams": ["tests/attacks/test_long_text.py"],
    "attacks: requests": ["tests/attacks/test_requests.py", "tests/attacks/test_cost.py"],
    "attacks: connections, logs, turns": [
        "tests/attacks/test_connections.py", "tests/attacks/test_logs.py", "tests/attacks/test_turns.py",
    ],
    "attacks: judges": ["tests/attacks/test_judge_endpoint.py", "tests/attacks/test_judge_folder.py"],
    "judges: an endpoint that misbehaves": ["tests/judge/test_chat.py"],
    "model folders: damaged": ["tests/faults/test_model_folder.py", "tests/system/test_folder.py"],
    "writes: each fails in turn": ["tests/faults/test_writes.py", "tests/storage/test_files.py"],
    "training: killed, full disk, resumed": ["tests/training/test_resume.py", "tests/training/test_checkpoint.py"],
    "training: useless data, settings, losses": ["tests/training/test_run.py"],
    "training: several processes": ["tests/training/test_distributed.py"],
    "bulk: workers killed, bad rows and files": ["tests/bulk"],
    "text of all scripts": ["tests/faults/test_unicode.py"],
    "readers and ordering, fuzzed": ["tests/faults/test_fuzz.py"],
    "ten thousand requests": ["tests/faults/test_soak.py"],
}  # fmt: skip
"""Tests by the class of what they do."""
WRITES = ("writes: each fails in turn",)
"""Classes whose faults are injected write faults; those of all others are attacks."""
PLANNED = {"attacks": 1_500, "inputs": 100_000, "write_faults": 200, "kills": 50}
"""The fewest cases of each kind in a whole run."""
KINDS = ("attacks", "write_faults", "kills", "inputs", "failed", "skipped")


def tested(group: str, folder: Path, quick: bool) -> Counter[str]:
    """Counts over the tests of a class: passed, failed, skipped, and cases by kind."""
    report = folder / "report.xml"
    marks = ["-m", "not slow"] if quick else []
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *marks]
    done = subprocess.run([*command, *GROUPS[group]], cwd=ROOT, capture_output=True, text=True, check=False)
    if not report.is_file():
        print(done.stdout[-2000:], done.stderr[-2000:])
        return Counter(failed=1)
    counted: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        failed = case.find("failure") is not None or case.find("error") is not None
        state = "failed" if failed else "skipped" if case.find("skipped") is not None else "passed"
        counted[state] += 1
        said = {str(each.get("name")): int(str(each.get("value"))) for each in case.iter("property")}
        if state == "passed":  # only what held counts
            counted["inputs"] += said.get("inputs", 0)
            counted["kills"] += said.get("kills", 0)
            # A test that counts nothing is one case.
            faults = said.get("faults", 0 if said else 1)
            counted["write_faults" if group in WRITES else "attacks"] += faults
        if failed:
            print(f"    failed: {case.get('classname')}::{case.get('name')}")
    report.unlink()
    return counted


def fuzzed(inputs: int, seed: int, folder: Path) -> dict[str, Any]:
    """Inputs by target, and what broke."""
    counts = folder / "fuzz.json"
    options = ["--seconds=0", f"--inputs={inputs}", f"--seed={seed}", f"--json={counts}"]
    command = [sys.executable, "-m", "tests.faults.fuzz", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if not counts.is_file():
        return {"inputs": {}, "broken": [(done.stderr.strip().splitlines() or ["the fuzzer said nothing"])[-1]]}
    found: dict[str, Any] = json.loads(counts.read_text(encoding="utf-8"))
    return found


def main() -> int:
    """Everything in turn, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=PLANNED["inputs"], help="that are made by fuzzing, at least")
    parser.add_argument("--seconds", type=float, default=60, help="of honest clients, alone and beside a hostile one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="leave out what takes long; no number of cases is planned")
    parser.add_argument("--results", type=Path, help="JSON file for the counts")
    chosen = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    began = time.monotonic()
    total: Counter[str] = Counter()
    groups: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for group in GROUPS:
            counted = tested(group, folder, chosen.quick)
            total += counted
            groups[group] = dict(counted)
            numbers = ", ".join(f"{counted[kind]} {kind.replace('_', ' ')}" for kind in KINDS if counted[kind])
            print(f"  {group:<42} {numbers}", flush=True)
        fuzz = fuzzed(chosen.inputs, chosen.seed, folder)
    made, broken = sum(fuzz["inputs"].values()), list(fuzz["broken"])
    total["inputs"] += made
    print(f"  {'fuzzing':<42} {made} inputs, {len(broken)} broken", flush=True)
    waits = fairness(chosen.seconds, chosen.seed)
    alone, beside = waits["alone"], waits["beside a hostile client"]
    print(f"  eight honest clients: p50 {alone['p50_ms']} ms, p99 {alone['p99_ms']} ms")
    print(f"  beside a hostile one: p50 {beside['p50_ms']} ms, p99 {beside['p99_ms']} ms ({waits['ratio_p99']} times)")
    if waits["ratio_p99"] > MOST or alone["refused"] or beside["refused"]:
        broken.append(f"honest clients wait {waits['ratio_p99']} times as long, {beside['refused']} are refused")
    if not chosen.quick:
        broken += [
            f"{total[kind]} {kind} are fewer than {least}" for kind, least in PLANNED.items() if total[kind] < least
        ]
    for line in broken:
        print(f"    {line}")
    lost = total["failed"] + len(broken)
    print(
        f"{', '.join(f'{total[kind]} {kind}' for kind in PLANNED)}; {lost} lost or broken; {total['skipped']} skipped."
    )
    if chosen.results:
        found = {
            "command": " ".join(["python", "-m", "tests.faults", *sys.argv[1:]]),
            "commit": commit(),
            "versions": versions(),
            "seed": chosen.seed,
            "minutes": round((time.monotonic() - began) / 60, 1),
            "groups": groups,
            "fuzzing": fuzz,
            "waiting": waits,
            **{kind: total[kind] for kind in (*PLANNED, "skipped")},
            "lost_or_broken": lost,
        }
        chosen.results.parent.mkdir(parents=True, exist_ok=True)
        chosen.results.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
