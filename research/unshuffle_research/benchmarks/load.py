"""Clients that ask without pause, and what they got."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException


@dataclass
class Tally:
    """What all clients together have seen."""

    seconds: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    bare_refusals: int = 0
    """Answers 503 that did not say when to come again."""
    lost: int = 0
    """Requests without an answer."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, status: int, seconds: float, retry_after: str | None) -> None:
        """Count an answer."""
        with self.lock:
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status == 200:
                self.seconds.append(seconds)
            elif status == 503 and not retry_after:
                self.bare_refusals += 1

    @property
    def answered(self) -> int:
        """How many requests got an answer of any kind."""
        return sum(self.statuses.values())

    def percentile(self, share: float) -> float:
        """Time within which this share of the good answers came."""
        ranked = sorted(self.seconds)
        return ranked[min(len(ranked) - 1, int(share * len(ranked)))] if ranked else float("nan")


class Load:
    """A number of clients, each on a connection of its own, until they are told to stop."""

    def __init__(self, port: int, clients: int, body: Callable[[random.Random], bytes]) -> None:
        self.tally = Tally()
        self._port = port
        self._body = body
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(clients)]

    def start(self) -> None:
        """Let all clients begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each client finish what it asked."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, number: int) -> None:
        chance = random.Random(number)
        connection = HTTPConnection("127.0.0.1", self._port, timeout=120)
        while not self._stop.is_set():
            body = self._body(chance)
            began = time.perf_counter()
            try:
                connection.request("POST", "/v1/order", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
            except (OSError, HTTPException):
                with self.tally.lock:
                    self.tally.lost += 1
                connection.close()
                self._stop.wait(0.05)
                continue
            retry_after = answer.getheader("Retry-After")
            self.tally.add(answer.status, time.perf_counter() - began, retry_after)
            if answer.status == 503:
                self._stop.wait(min(float(retry_after or 1), 1.0))
        connection.close()


def bodies(sentences: list[str], least: int = 5, most: int = 8) -> Callable[[random.Random], bytes]:
    """Makes requests of a few sentences each, drawn and numbered so that no two are the same."""

    def body(chance: random.Random) -> bytes:
        drawn = chance.sample(sentences, chance.randint(least, most))
        numbered = [f"{sentence[:-1]}, said {chance.randint(1, 10**6)} people." for sentence in drawn]
        return json.dumps({"sentences": numbered}).encode()

    return body
