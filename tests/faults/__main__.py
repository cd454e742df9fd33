"""Break things on purpose and count: `python -m tests.faults [--seconds 60] [--quick]`.

Runs the fault tests (killed processes, full disks, damaged and hostile model folders, bad files), fuzzes for some
time, and prints how many inputs and faults there were. Leaves with 1 where anything broke or was lost.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from unshuffle.evaluation.results import commit, versions

ROOT = Path(__file__).parents[2]
GROUPS = {
    "attacks: descriptions of transformers": ["tests/attacks/test_model_description.py"],
    "attacks: tokenizers": ["tests/attacks/test_tokenizer_file.py"],
    "attacks: files of model folders": ["tests/attacks/test_model_files.py"],
    "attacks: names of parsers": ["tests/attacks/test_parser_names.py"],
    "attacks: endless text, closed streams": ["tests/attacks/test_long_text.py"],
    "attacks: requests": ["tests/attacks/test_requests.py", "tests/attacks/test_cost.py"],
    "attacks: connections, logs, turns": [
        "tests/attacks/test_connections.py", "tests/attacks/test_logs.py", "tests/attacks/test_turns.py",
    ],
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


def tested(paths: list[str], folder: Path, quick: bool) -> Counter[str]:
    """Counts over the tests of some files: passed, failed, skipped, faults, inputs."""
    report = folder / "report.xml"
    there = [path for path in paths if (ROOT / path).exists()]
    marks = ["-m", "not slow"] if quick else []
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *marks, *there]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if not report.is_file():
        print(done.stdout[-2000:], done.stderr[-2000:])
        return Counter(failed=1)
    counted: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        failed = case.find("failure") is not None or case.find("error") is not None
        state = "failed" if failed else "skipped" if case.find("skipped") is not None else "passed"
        counted[state] += 1
        said = {each.get("name"): each.get("value") for each in case.iter("property")}
        if state != "skipped":
            counted["inputs"] += int(said.get("inputs") or 0)
            # A test that does not count its faults is one.
            counted["faults"] += int(said.get("faults") or (0 if "inputs" in said else 1))
        if failed:
            print(f"    failed: {case.get('classname')}::{case.get('name')}")
    report.unlink()
    return counted


def fuzzed(seconds: float, seed: int, folder: Path) -> tuple[int, list[str]]:
    """Inputs, and what broke."""
    counts = folder / "fuzz.json"
    command = [sys.executable, "-m", "tests.faults.fuzz", f"--seconds={seconds}", f"--seed={seed}", f"--json={counts}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if not counts.is_file():
        return 0, [(done.stderr.strip().splitlines() or ["the fuzzer said nothing"])[-1]]
    found = json.loads(counts.read_text(encoding="utf-8"))
    return sum(found["inputs"].values()), found["broken"]


def main() -> int:
    """Everything in turn, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="of fuzzing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="leave out what takes long, such as the soak")
    parser.add_argument("--results", type=Path, help="JSON file for the counts")
    chosen = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    total: Counter[str] = Counter()
    groups: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for group, paths in GROUPS.items():
            counted = tested(paths, folder, chosen.quick)
            total += counted
            groups[group] = dict(counted)
            numbers = ", ".join(f"{counted[kind]} {kind}" for kind in ("faults", "inputs", "failed", "skipped"))
            print(f"  {group:<42} {numbers}", flush=True)
        inputs, broken = fuzzed(chosen.seconds, chosen.seed, folder)
    print(f"  {'fuzzing for ' + str(chosen.seconds) + ' s':<42} {inputs} inputs, {len(broken)} broken")
    for line in broken:
        print(f"    {line}")
    total["inputs"] += inputs
    lost = total["failed"] + len(broken)
    print(
        f"{total['faults']} faults, {total['inputs']} inputs; {lost} lost or broken; {total['skipped']} tests skipped."
    )
    if chosen.results:
        found = {
            "command": " ".join(["python", "-m", "tests.faults", *sys.argv[1:]]),
            "commit": commit(),
            "versions": versions(),
            "groups": groups,
            "fuzzing": {"seconds": chosen.seconds, "seed": chosen.seed, "inputs": inputs, "broken": broken},
            **{kind: total[kind] for kind in ("faults", "inputs", "skipped")},
            "lost_or_broken": lost,
        }
        chosen.results.parent.mkdir(parents=True, exist_ok=True)
        chosen.results.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
