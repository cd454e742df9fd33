"""Fuzz readers, ordering and configurations: `python -m tests.faults.fuzz --seconds 60 --seed 1`.

Sound inputs are broken at random from a seed, until each target has had its share of the time and of `--inputs`; with
`--engine atheris`, where that is installed, coverage leads the search, a process a target. Every input that breaks
something is saved, so that `--replay FILE --target NAME` shows it again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
ROOT = Path(__file__).parents[2]
SLOW = {"order": 0.1, "bulk-parquet": 0.5, "read-parquet": 0.5}
"""Share of the usual number of inputs for targets that take long."""


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--inputs", type=int, default=0, help="at least about so many, however long it takes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", help="only this one; repeatable")
    parser.add_argument("--engine", choices=["mutation", "atheris"], default="mutation")
    parser.add_argument(
        "--save", type=Path, default=Path("fuzz-findings"), help="folder of inputs that break something"
    )
    parser.add_argument("--json", type=Path, help="write the counts here")
    parser.add_argument("--replay", type=Path, help="run one saved input")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def saved(folder: Path, target: str, data: bytes) -> Path:
    """The file of an input that breaks something."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
    file.write_bytes(data)
    return file


def by_mutation(target: str, seconds: float, least: int, seed: int, folder: Path) -> tuple[int, list[str]]:
    """Breaks sound inputs until time and number are reached; how many inputs, and what broke."""
    from tests.faults.mutation import mutated
    from tests.faults.targets import TARGETS, seeds

    draw, call, sound = random.Random(f"{target} {seed}"), TARGETS[target], seeds(target)
    counted, end = 0, time.monotonic() + seconds
    while counted < least or time.monotonic() < end:
        data = mutated(draw, sound)
        counted += 1
        try:
            call(data)
        except Exception as error:
            traceback.print_exc()
            said = (str(error).splitlines() or [""])[0]
            return counted, [f"{target}: {type(error).__name__}: {said} ({saved(folder, target, data)})"]
    return counted, []


def by_atheris(target: str, seconds: float, _: int, seed: int, folder: Path) -> tuple[int, list[str]]:
    """In a process of its own, because libFuzzer ends it."""
    command = [
        sys.executable,
        "-m",
        "tests.faults.fuzz",
        "--worker",
        "--target",
        target,
        "--seconds",
        str(max(1, int(seconds))),
    ]
    done = subprocess.run(
        [*command, "--seed", str(seed), "--save", str(folder.resolve())],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    counts = re.findall(r"Done (\d+) runs|#(\d+)\s", done.stderr)
    counted = max((int(one or other) for one, other in counts), default=0)
    if done.returncode:
        tail = (done.stderr.strip().splitlines() or ["no word"])[-1]
        return counted, [f"{target}: {tail}"]
    return counted, []


def atheris_worker(chosen: argparse.Namespace) -> None:
    """Fuzzes one target until libFuzzer has had its time."""
    import atheris

    with atheris.instrument_imports(include=["unshuffle"]):
        from tests.faults.targets import TARGETS, seeds
    (target,) = chosen.target
    corpus = chosen.save / f"corpus-{target}"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(seeds(target)):
        (corpus / f"seed-{number}").write_bytes(data)
    limits = [f"-max_total_time={int(chosen.seconds)}", f"-seed={chosen.seed}", "-max_len=4096", "-rss_limit_mb=4096"]
    where = f"-artifact_prefix={chosen.save}/{target}-"
    atheris.Setup([sys.argv[0], *limits, where, str(corpus)], TARGETS[target])
    atheris.Fuzz()


def main() -> int:
    """Every target in turn; leaves with 1 where something broke."""
    chosen = options()
    if chosen.worker:
        atheris_worker(chosen)
    from tests.faults.targets import TARGETS

    names = chosen.target or list(TARGETS)
    if chosen.replay:
        TARGETS[names[0]](chosen.replay.read_bytes())
        return 0
    fuzz = by_atheris if chosen.engine == "atheris" else by_mutation
    counts: dict[str, int] = {}
    broken: list[str] = []
    whole = sum(SLOW.get(name, 1.0) for name in names)
    for name in names:
        least = math.ceil(chosen.inputs * SLOW.get(name, 1.0) / whole)
        counts[name], found = fuzz(name, chosen.seconds / len(names), least, chosen.seed, chosen.save)
        broken += found
        print(f"  {name:<14} {counts[name]:>8} inputs, {len(found)} broken", flush=True)
    print(f"{chosen.engine}: {sum(counts.values())} inputs, {len(broken)} broken, seed {chosen.seed}")
    for line in broken:
        print(f"  {line}")
    if chosen.json:
        summary: dict[str, Any] = {"engine": chosen.engine, "seed": chosen.seed, "inputs": counts, "broken": broken}
        chosen.json.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
