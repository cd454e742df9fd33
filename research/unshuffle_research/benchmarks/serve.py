"""Load on the service: 32 clients, with and without micro-batching, memory, and a signal in the middle.

Run: python -m unshuffle_research.benchmarks.serve [--seconds 60]

Two models are served: IRSE-GRN at the paper's sizes, on which the gain of micro-batching is judged, and the shipped
one, whose gain is only told: its transformer reads a single document near the processor's limit already.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer

from unshuffle.evaluation.results import command_line, commit, versions
from unshuffle.serve.files import FOLDER
from unshuffle.serve.run import run
from unshuffle.serve.settings import Batching, Settings
from unshuffle.system.orderer import Orderer
from unshuffle_research import RESULTS, ROOT
from unshuffle_research.benchmarks.load import Load, bodies

FIGURES = RESULTS / "benchmarks" / "serve.json"
UNTRAINED = "untrained:"
PAPER = UNTRAINED + "irse-grn"
GAIN = 3.0
"""Least ratio of the model's throughput with micro-batching to that without."""
GAIN_SHIPPED = 2.0
"""The same for the shipped model."""
GROWTH = 1.05
"""Most that memory may grow from the second third of a load to the last."""


def main(
    seconds: Annotated[float, typer.Option(help="How long each load with micro-batching lasts.")] = 60.0,
    clients: Annotated[int, typer.Option(help="How many clients ask at the same time.")] = 32,
    judged: Annotated[str, typer.Option(help="Model whose gain is judged: a system's name with 'untrained:'.")] = PAPER,
    told: Annotated[str, typer.Option(help="Model whose gain is told beside it; empty for none.")] = "default",
    out: Annotated[Path, typer.Option(help="Where the numbers are written.")] = FIGURES,
    serve: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    """Measure, write the numbers, and leave with code 1 if a target is missed."""
    if serve:
        options = json.loads(serve)
        batching = Batching(**options["batching"])
        run(_orderer(options["model"]), Settings(port=options["port"], batching=batching))
        return
    report: dict[str, Any] = {
        "command": command_line(),
        "commit": commit(),
        "versions": versions(),
        "clients": clients,
        "processors": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 1),
        "models": {model: compare(model, seconds, clients) for model in (judged, told) if model},
    }
    report["targets"] = targets(report["models"], judged)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    typer.echo(json.dumps(report, indent=2))
    if "FAIL" in report["targets"].values():
        raise typer.Exit(1)


def compare(model: str, seconds: float, clients: int) -> dict[str, Any]:
    """The same load without micro-batching and with it."""
    examples = json.loads((FOLDER / "examples.json").read_text(encoding="utf-8"))
    sentences = [sentence for example in examples for sentence in example["sentences"]]
    with tempfile.TemporaryDirectory() as folder:
        alone = measure(Path(folder), model, max(5.0, seconds / 3), clients, sentences, {"documents": 1, "window": 0})
        together = measure(Path(folder), model, seconds, clients, sentences, {})
    return {
        "one_at_a_time": alone,
        "micro_batching": together,
        "gain_of_the_model_part": round(together["model_documents_a_second"] / alone["model_documents_a_second"], 2),
        "gain_end_to_end": round(together["answers_a_second"] / alone["answers_a_second"], 2),
    }


def targets(models: dict[str, dict[str, Any]], judged: str) -> dict[str, str]:
    """PASS or FAIL for each promise; the gain is promised of one model, all else of all."""
    loads = [found[kind] for found in models.values() for kind in ("one_at_a_time", "micro_batching")]
    kept = {
        "no error besides 503 with Retry-After": all(
            not load["lost_before_the_signal"] and not load["bare_refusals"] and not load["other_statuses"]
            for load in loads
        ),
        f"model part at least {GAIN:g} times one at a time": models[judged]["gain_of_the_model_part"] >= GAIN,
        **{
            f"{name}: model part at least {GAIN_SHIPPED:g} times one at a time": (
                found["gain_of_the_model_part"] >= GAIN_SHIPPED
            )
            for name, found in models.items()
            if name != judged
        },
        "memory flat": all(load["memory_growth"] <= GROWTH for load in loads),
        "SIGTERM in mid-load loses no accepted request": all(load["accepted"] == load["answered"] for load in loads),
    }
    return {name: "PASS" if held else "FAIL" for name, held in kept.items()}


def measure(
    folder: Path, model: str, seconds: float, clients: int, sentences: list[str], batching: dict[str, Any]
) -> dict[str, Any]:
    """One server under load for so long, then stopped while the load goes on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / f"{port}.log"
    options = json.dumps({"port": port, "model": model, "batching": batching})
    command = [sys.executable, "-m", "unshuffle_research.benchmarks.serve", "--serve", options]
    with log.open("w") as stream:
        server = subprocess.Popen(command, cwd=ROOT, stderr=stream)
    try:
        _wait(port, server, log)
        load = Load(port, clients, bodies(sentences))
        before = _counters(port)
        load.start()
        memory = _watch(server.pid, seconds)
        counted = _counters(port)
        good, lost = len(load.tally.seconds), load.tally.lost
        server.terminate()
        server.wait(timeout=120)
        load.stop()
    finally:
        if server.poll() is None:
            server.kill()
    events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    accepted = sum(event.get("path") == "/v1/order" for event in events)
    spent = {work: counted[work] - before.get(work, 0.0) for work in counted}
    tally = load.tally
    return {
        "seconds": seconds,
        "answers_a_second": round(good / seconds, 1),
        "model_documents_a_second": round(spent["documents"] / spent["order"], 1),
        "documents_a_call": round(spent["documents"] / spent["calls"], 1),
        "share_of_parser": round(spent["parse"] / (spent["parse"] + spent["order"]), 3),
        "milliseconds": {f"p{share}": round(1000 * tally.percentile(share / 100), 1) for share in (50, 95, 99)},
        "refused_with_retry_after": tally.statuses.get(503, 0) - tally.bare_refusals,
        "bare_refusals": tally.bare_refusals,
        "other_statuses": {str(status): times for status, times in tally.statuses.items() if status not in {200, 503}},
        "lost_before_the_signal": lost,
        "accepted": accepted,
        "answered": tally.answered,
        "megabytes": [round(mean(part)) for part in _thirds(memory)],
        "memory_growth": round(mean(_thirds(memory)[2]) / mean(_thirds(memory)[1]), 3),
    }


def _orderer(model: str) -> Orderer:
    """A model by folder or name; or a row's, with random weights, which cost as much as trained ones."""
    if not model.startswith(UNTRAINED):
        return Orderer.from_pretrained(model)
    untrained = model.removeprefix(UNTRAINED)
    from unshuffle.system.rows import load_row
    from unshuffle.text.document import Document
    from unshuffle.training.run import new_model

    examples = json.loads((FOLDER / "examples.json").read_text(encoding="utf-8"))
    orderer = Orderer(new_model(untrained, load_row(untrained).system, [], 1))
    documents = orderer.parser.mentions(Document(tuple(example["sentences"])) for example in examples)
    made = new_model(untrained, load_row(untrained).system, list(documents), 1)
    made.network.eval()
    return Orderer(made)


def _wait(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()
            return
        except OSError:
            if server.poll() is not None:
                raise SystemExit(f"the server did not start:\n{log.read_text(encoding='utf-8')}") from None
            time.sleep(0.2)
    raise SystemExit("the server did not start within two minutes")


def _counters(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        text = answer.read().decode()

    def read(name: str) -> float:
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    return {
        "parse": read('unshuffle_model_seconds_total{work="parse"}'),
        "order": read('unshuffle_model_seconds_total{work="order"}'),
        "documents": read('unshuffle_documents_total{work="order"}'),
        "calls": read("unshuffle_batch_documents_count"),
    }


def _watch(process: int, seconds: float) -> list[float]:
    """Megabytes that a process holds, twice a second."""
    memory = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        memory.append(int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024)
        time.sleep(0.5)
    return memory


def _thirds(values: list[float]) -> list[list[float]]:
    size = max(1, len(values) // 3)
    return [values[:size], values[size : 2 * size], values[-size:]]


if __name__ == "__main__":
    typer.run(main)
