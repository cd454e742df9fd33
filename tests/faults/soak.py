"""The real service under mixed and hostile load: `python -m tests.faults.soak --minutes 30`.

Orders, scores and splits documents, sends broken and oversized requests, goes away in the middle of others, and lets
schemathesis make up requests for a sixth of the time, at most five minutes. Prints the memory and the open handles of
the service every minute. Leaves with 1 where the service failed, or where either grew after the first minute.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from tests.faults.test_soak import GROWTH
from tests.fixtures.documents import random_documents
from tests.fixtures.tiny import save_tiny
from unshuffle.evaluation.results import commit, versions

ROOT = Path(__file__).parents[2]
HANDLES = 32
"""Open files and sockets more than after warming up that are no leak."""


def memory(process: int) -> int:
    """Bytes that a process holds."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) * 1024


def handles(process: int) -> int:
    """Files and sockets that a process has open."""
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def served(folder: Path, model: str) -> tuple[subprocess.Popen[bytes], int]:
    """The service, and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    code = "from unshuffle.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--model", model, "--port", str(port)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    for _ in range(1200):
        try:
            httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False)
            return process, port
        except httpx.TransportError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
    raise SystemExit(f"The service did not start: {(folder / 'log').read_text()[-500:]}")


def request(draw: random.Random, client: httpx.Client, texts: list[list[str]]) -> str:
    """One request of some kind; what came of it."""
    sentences = list(draw.choice(texts))
    draw.shuffle(sentences)
    kind = draw.random()
    body: Any = {"sentences": sentences}
    if kind < 0.5:
        answer = client.post("/v1/order", json=body | {"beam": draw.choice([3, 8]), "n_best": draw.choice([1, 3])})
        return "answered" if sorted(answer.json().get("order", ())) == list(range(len(sentences))) else "wrong"
    if kind < 0.7:
        path = draw.choice(["score", "graph"])
    else:
        path = draw.choice(["order", "score", "split", "graph", "exercise", "order/batch", "nowhere"])
        body = draw.choice([None, 7, [], {}, {"sentences": 7}, {"text": "A. " * 20_000}, {"sentences": ["x"] * 9_000}])
    answer = client.post(f"/v1/{path}", json=body)
    if answer.status_code in (500, 501, 502):
        return "wrong"
    return "answered" if answer.is_success else "refused"


def load_lazily(client: httpx.Client, sentences: list[str]) -> None:
    """Has the service load what it loads at first use, which is no leak."""
    for file in client.get("/v1/models").json()["exercise_formats"]:
        client.post("/v1/exercise/file", json={"sentences": sentences, "format": file}).raise_for_status()


def gone(port: int, draw: random.Random) -> str:
    """A client that goes away in the middle of its request."""
    lines = ("POST /v1/order HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Content-Length: 99", "")
    whole = "\r\n".join(lines).encode() + b'\r\n{"sentences": ["A'
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(whole[: draw.randrange(1, len(whole))])
    return "gone"


def fuzzing(port: int, seconds: float) -> subprocess.Popen[bytes]:
    """Schemathesis against the running service."""
    program = Path(sys.executable).with_name("schemathesis")
    options = ["--checks", "not_a_server_error", "--max-time", str(int(seconds)), "--continue-on-failure", "--no-color"]
    command = [str(program), "run", f"http://127.0.0.1:{port}/openapi.json", *options, "--mode", "all", "--no-shrink"]
    return subprocess.Popen(command, cwd=tempfile.gettempdir(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def soaked(minutes: float, seed: int, folder: Path) -> dict[str, Any]:
    """Runs the load and prints what became of it."""
    draw = random.Random(seed)
    texts = [list(document.sentences) for document in random_documents(60, sentences=(2, 9), seed=seed)]
    process, port = served(folder, str(save_tiny(folder / "model")))
    counts: Counter[str] = Counter()
    began = shown = time.monotonic()
    warm: tuple[int, int] | None = None
    fuzzer: subprocess.Popen[bytes] | None = None
    broken = tested = ""
    rows: list[dict[str, float]] = []
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            load_lazily(client, texts[0])
            while (now := time.monotonic()) - began < minutes * 60:
                if process.poll() is not None:
                    raise SystemExit(f"The service ended: {(folder / 'log').read_text()[-500:]}")
                counts[gone(port, draw) if draw.random() < 0.1 else request(draw, client, texts)] += 1
                if fuzzer is None and now - began > minutes * 10:
                    fuzzer = fuzzing(port, min(300, minutes * 10))
                if now - shown >= min(60, minutes * 15):
                    shown = now
                    found = memory(process.pid), handles(process.pid)
                    warm = warm or found
                    minute = round((now - began) / 60, 1)
                    rows.append({"minute": minute, "megabytes": found[0] >> 20, "handles": found[1]})
                    print(f"  minute {(now - began) / 60:4.1f}: {found[0] >> 20} MB, {found[1]} handles", flush=True)
            if fuzzer is not None:
                said = fuzzer.communicate(timeout=120)[0].decode(errors="replace")
                broken = said if "Server error" in said else ""
                counted = re.search(r"\d[\d,]* generated.*", said)
                tested = counted[0].strip() if counted else ""
                print(f"  schemathesis: {tested or said.strip().splitlines()[-1]}")
        time.sleep(1)
        last = memory(process.pid), handles(process.pid)
    finally:
        process.terminate()
        process.wait(timeout=60)
    warm = warm or last
    print(f"  {', '.join(f'{count} {kind}' for kind, count in sorted(counts.items()))}")
    print(f"  after warming up {warm[0] >> 20} MB and {warm[1]} handles, at the end {last[0] >> 20} MB and {last[1]}")
    faults = [
        f"{counts['wrong']} wrong answers" if counts["wrong"] else "",
        "memory grew" if last[0] - warm[0] > GROWTH else "",
        "handles grew" if last[1] - warm[1] > HANDLES else "",
        f"schemathesis found: {broken[-1500:]}" if broken else "",
    ]
    found_faults = [fault for fault in faults if fault]
    for fault in found_faults:
        print(f"  {fault}")
    return {"answers": dict(counts), "rows": rows, "schemathesis": tested, "faults": found_faults}


def main() -> int:
    """Read the command line, and soak."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, help="JSON file for what was seen")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = soaked(chosen.minutes, chosen.seed, Path(folder))
    if chosen.results:
        about = {
            "command": " ".join(["python", "-m", "tests.faults.soak", *sys.argv[1:]]),
            "commit": commit(),
            "versions": versions(),
            "seed": chosen.seed,
            "minutes": chosen.minutes,
        }
        chosen.results.parent.mkdir(parents=True, exist_ok=True)
        chosen.results.write_text(json.dumps(about | found, indent=2) + "\n", encoding="utf-8")
    return 1 if found["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
