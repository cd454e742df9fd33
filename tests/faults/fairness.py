"""Eight honest clients of the real service, alone and beside a hostile one: `python -m tests.faults.fairness`.

The hostile client keeps eight connections busy with the largest requests that the service takes, and with some that it
refuses. Prints the honest clients' waiting times; leaves with 1 where their 99th percentile is more than three times
what it is alone, or where one of them is refused.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.faults.soak import served
from unshuffle.text.readers import read_documents

HONEST = 8
CONNECTIONS = 8
"""That the hostile client has."""
MOST = 3.0
"""Times the wait alone that the wait beside a hostile client may be."""
Request = tuple[str, dict[str, Any]]


def texts(draw: random.Random, sentences: int, words: int, vocabulary: list[str]) -> list[str]:
    """Sentences of one length."""
    return [" ".join(draw.choices(vocabulary, k=words)) for _ in range(sentences)]


def attacks(draw: random.Random, vocabulary: list[str]) -> list[Request]:
    """The costliest requests of every kind, as large as the service takes them, and some that it refuses."""
    largest, page, medium = (texts(draw, *size, vocabulary) for size in ((60, 40), (40, 25), (20, 20)))
    return [
        ("order", {"sentences": largest, "beam": 64, "n_best": 20}),
        ("order", {"sentences": ["a.b,c;d:" * 500] * 60}),
        ("order/batch", {"documents": [{"sentences": page}] * 30, "beam": 64}),
        ("order/batch", {"documents": [{"sentences": medium}] * 100}),
        ("score", {"sentences": largest}),
        ("score", {"sentences": texts(draw, 60, 250, vocabulary)}),
        ("exercise", {"sentences": medium, "mend": True, "margin": 1.0}),
        ("exercise", {"sentences": largest, "mend": True, "margin": 1.0}),
        ("split", {"text": "A. " * 330_000}),
        ("split", {"text": "A. " * 70_000}),
        ("order", {"sentences": [7] * 300_000}),
    ]


async def honest(client: httpx.AsyncClient, documents: list[list[str]], end: float) -> tuple[list[float], Counter[int]]:
    """One client that asks again as soon as it is answered."""
    waits: list[float] = []
    answers: Counter[int] = Counter()
    for sentences in itertools.cycle(documents):
        began = time.monotonic()
        if began > end:
            return waits, answers
        answer = await client.post("/v1/order", json={"sentences": sentences})
        waits.append(time.monotonic() - began)
        answers[answer.status_code] += 1
    raise AssertionError


async def hostile(client: httpx.AsyncClient, requests: list[Request], answers: Counter[int]) -> None:
    """One connection; now and then it goes away without waiting for its answer."""
    for number, (path, asked) in enumerate(itertools.cycle(requests)):
        try:
            answer = await client.post(f"/v1/{path}", json=asked, timeout=0.2 if number % 7 == 6 else 120)
            answers[answer.status_code] += 1
            if answer.status_code == 503:
                await asyncio.sleep(0.05)
        except httpx.TransportError:
            answers[0] += 1


@asynccontextmanager
async def attacked(url: str, draw: random.Random, vocabulary: list[str]) -> AsyncIterator[Counter[int]]:
    """With the hostile client at work."""
    answers: Counter[int] = Counter()
    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
        work = []
        for _ in range(CONNECTIONS):
            requests = attacks(draw, vocabulary)
            draw.shuffle(requests)
            work.append(asyncio.ensure_future(hostile(client, requests, answers)))
        await asyncio.sleep(2)
        yield answers
        for one in work:
            one.cancel()
        await asyncio.wait(work)


async def measured(url: str, documents: list[list[str]], seconds: float) -> dict[str, Any]:
    """Waiting times of the honest clients, in milliseconds."""
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=120) as client:
        end = time.monotonic() + seconds
        shares = [documents[number::HONEST] for number in range(HONEST)]
        found = await asyncio.gather(*(honest(client, share, end) for share in shares))
    waits = [wait for waits, _ in found for wait in waits]
    places = statistics.quantiles(waits, n=100)
    refused = sum(count for _, answers in found for status, count in answers.items() if status != 200)
    return {
        "requests": len(waits),
        "refused": refused,
        "p50_ms": round(1000 * places[49], 1),
        "p99_ms": round(1000 * places[98], 1),
    }


async def compared(url: str, seconds: float, seed: int) -> dict[str, Any]:
    """The same load alone and beside the hostile client, in turn, the waits of each kind taken together."""
    draw = random.Random(seed)
    documents = [list(document.sentences) for document in read_documents("everyday:valid")]
    vocabulary = " ".join(" ".join(document) for document in documents).split()
    for document in documents:
        draw.shuffle(document)
    await measured(url, documents, 2)  # warms up
    alone = await measured(url, documents, seconds)
    async with attacked(url, draw, vocabulary) as answers:
        beside = await measured(url, documents, seconds)
    return {
        "alone": alone,
        "beside a hostile client": beside,
        "hostile answers": {str(status or "gone"): count for status, count in sorted(answers.items())},
        "ratio_p99": round(beside["p99_ms"] / alone["p99_ms"], 2),
    }


def fairness(seconds: float, seed: int, model: str = "default") -> dict[str, Any]:
    """What the honest clients of a fresh service see."""
    with tempfile.TemporaryDirectory() as folder:
        process, port = served(Path(folder), model)
        try:
            return asyncio.run(compared(f"http://127.0.0.1:{port}", seconds, seed))
        finally:
            process.terminate()
            process.wait(timeout=60)


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="of each of the two measurements")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", default="default")
    chosen = parser.parse_args()
    found = fairness(chosen.seconds, chosen.seed, chosen.model)
    print(json.dumps(found, indent=2))
    return 0 if found["ratio_p99"] <= MOST and not found["beside a hostile client"]["refused"] else 1


if __name__ == "__main__":
    sys.exit(main())
