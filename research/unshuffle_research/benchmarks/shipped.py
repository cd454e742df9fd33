"""The shipped model as a user meets it: a fresh core install, six sentences from a cold start, a thousand abstracts."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from unshuffle.metrics.orders import tau
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.text.readers.read import read_documents
from unshuffle_research import ROOT
from unshuffle_research.benchmarks.arithmetic import encoder_flops
from unshuffle_research.benchmarks.documents import nips_like, of_size
from unshuffle_research.benchmarks.machine import one_thread, sgemm_rate
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target, environment

BEFORE = "0e3f809"
"""The commit with the earlier embedded model and its way through torch and spaCy."""
DISK, MEMORY, IMPORT, FASTER = 400.0, 450.0, 60.0, 2.0
"""Megabytes, megabytes, milliseconds, times."""
ORDER = (
    "import sys; sys.argv = ['unshuffle', *sys.argv[1:]]\n"
    "from unshuffle.cli import main\n"
    "try:\n    main()\nexcept SystemExit as left:\n    assert not left.code, left.code\n"
    "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0], file=sys.stderr)\n"
)
IMPORTED = "import time; start = time.perf_counter(); import unshuffle; print(time.perf_counter() - start)"
STREAM = (
    "import json, sys, time\n"
    "from unshuffle.system.orderer import Orderer\n"
    "texts = [json.loads(line) for line in open(sys.argv[1])]\n"
    "orderer = Orderer.from_pretrained('default')\n"
    "list(orderer.order_many(texts[:8]))\n"
    "start = time.process_time()\n"
    "orders = [list(found.order) for found in orderer.order_many(texts)]\n"
    "print(json.dumps([time.process_time() - start, orders]))\n"
)


@dataclass(frozen=True)
class Run:
    """What one process took."""

    wall: float
    cpu: float
    out: str
    err: str


def run(settings: Settings) -> Report:
    """One thread; `--data` names the folder of the abstracts (arxiv/test.jsonl.gz), else they are made up."""
    one_thread()
    repeats, count = (1, 8) if settings.quick else (5, 1_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        core = sys.executable if settings.quick else _core_install(folder)
        disk = 0.0 if settings.quick else _megabytes(folder / "core")
        six = folder / "six.txt"
        six.write_text("\n".join(of_size(6, 25)[0].sentences) + "\n", encoding="utf-8")
        bare, cold, imported = [], [], []
        for _ in range(repeats):  # in turn, so that a busy moment hits all alike
            bare.append(_run(sys.executable, ["-c", "import torch"]))
            cold.append(_run(core, ["-c", ORDER, "order", str(six)]))
            imported.append(float(_run(core, ["-c", IMPORTED]).out))
        abstracts = _abstracts(settings, count)
        pace = _pace(folder, abstracts, settings, repeats=1 if settings.quick else 2)
    rate = sgemm_rate()
    peak = max(float(each.err.split()[-1]) / 1024 for each in cold)
    wall, cpu = (min(getattr(each, kind) for each in cold) for kind in ("wall", "cpu"))
    torch_wall, torch_cpu = (min(getattr(each, kind) for each in bare) for kind in ("wall", "cpu"))
    targets = [
        Target(name="core install (MB on disk)", ratio=disk, limit=DISK, at_most=True),
        Target(name="cold order, in times of importing torch, clock", ratio=wall / torch_wall, limit=1, at_most=True),
        Target(name="cold order, in times of importing torch, CPU", ratio=cpu / torch_cpu, limit=1, at_most=True),
        Target(name="peak memory of a cold order (MB)", ratio=peak, limit=MEMORY, at_most=True),
        Target(name="import unshuffle (ms)", ratio=1e3 * min(imported), limit=IMPORT, at_most=True),
    ]
    if "before" in pace:
        ratio = pace["before"]["seconds"] / pace["now"]["seconds"]
        targets.append(Target(name="documents/s in times of the earlier model's", ratio=ratio, limit=FASTER))
    if pace.get("before", {}).get("tau") is not None:
        gain = pace["now"]["tau"] - pace["before"]["tau"]
        targets.append(Target(name="tau more than the earlier model's", ratio=gain, limit=0))
    flops = encoder_flops(Orderer.from_pretrained("default", threads=1).model, abstracts)
    return Report(
        "shipped",
        tuple(targets),
        {
            "seconds": {"order": wall, "import torch": torch_wall},
            "CPU seconds": {"order": cpu, "import torch": torch_cpu},
            f"documents per CPU second, {count} abstracts": {
                name: count / found["seconds"] for name, found in pace.items()
            },
            "tau": {name: found["tau"] for name, found in pace.items() if found["tau"] is not None},
            "encoder's share of the arithmetic limit": flops / rate / pace["now"]["seconds"],
            "sgemm (GFLOP/s)": rate / 1e9,
        },
    )


def _core_install(folder: Path) -> str:
    """The Python of a new environment with the product's wheel and what it needs, as locked."""
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "core")], check=True)
    python = str(folder / "core" / "bin" / "python")
    (wheel,) = folder.glob("*.whl")
    install = ["-m", "pip", "install", "-qq", "--disable-pip-version-check", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([python, *install, str(wheel)], check=True)
    return python


def _megabytes(folder: Path) -> float:
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def _abstracts(settings: Settings, count: int) -> list[Document]:
    if not settings.data:
        return nips_like(count)
    found = (document for document in read_documents(Path(settings.data) / "arxiv" / "test.jsonl.gz"))
    return [document for _, document in zip(range(count), found, strict=False)]


def _pace(folder: Path, abstracts: list[Document], settings: Settings, *, repeats: int) -> dict[str, dict[str, Any]]:
    """Seconds and tau of both programs on the same shuffled abstracts, taken in turn."""
    import numpy as np

    draw = np.random.default_rng(1)
    shuffles = [draw.permutation(len(document.sentences)).tolist() for document in abstracts]
    rows = [
        json.dumps([document.sentences[position] for position in shuffle])
        for document, shuffle in zip(abstracts, shuffles, strict=True)
    ]
    texts = folder / "abstracts.jsonl"
    texts.write_text("\n".join(rows) + "\n", encoding="utf-8")
    sources = {"now": ROOT / "src"}
    if not settings.quick:
        archive = subprocess.run(["git", "archive", BEFORE, "src"], cwd=ROOT, capture_output=True, check=True).stdout
        (folder / "before").mkdir()
        subprocess.run(["tar", "-x"], cwd=folder / "before", input=archive, check=True)
        sources["before"] = folder / "before" / "src"
    found: dict[str, dict[str, Any]] = {name: {"seconds": float("inf"), "tau": None} for name in sources}
    for _ in range(repeats):
        for name, source in sources.items():
            told = _run(sys.executable, ["-c", STREAM, str(texts)], PYTHONPATH=str(source))
            seconds, orders = json.loads(told.out.splitlines()[-1])
            found[name]["seconds"] = min(seconds, found[name]["seconds"])
            if settings.data:
                true = (
                    [shuffle[position] for position in order] for order, shuffle in zip(orders, shuffles, strict=True)
                )
                found[name]["tau"] = 100 * mean(tau(order, range(len(order))) for order in true)
    return found


def _run(python: str, arguments: list[str], **variables: str) -> Run:
    """A process, its time on the clock and the processor's."""
    variables = environment() | variables
    if python != sys.executable:
        variables.pop("PYTHONPATH", None)  # the core install has a copy of its own
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [python, *arguments], capture_output=True, text=True, check=True, env=variables, timeout=7200, cwd=os.sep
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(wall, cpu, done.stdout, done.stderr)
