"""A chat endpoint that misbehaves on purpose; it knows the order of sentences that name their own place."""

from __future__ import annotations

import json
import math
import random
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from unshuffle.judge.chat import ChatJudge

PLACE = re.compile(r"number (\d+)")
PAIRS = [(0, 1), (3, 2), (1, 3)]
RIGHT = (1.0, 0.0, 1.0)


def numbered(count: int, name: str = "text") -> list[str]:
    return [f"This is number {place} of {name}." for place in range(count)]


class StandIn(ThreadingHTTPServer):
    """Each request draws one of the faults by its share; the rest is answered rightly."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, faults: Mapping[str, float], *, slow: float = 0.5) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults, self.slow = dict(faults), slow
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.drawn: Counter[str] = Counter()
        self._random, self._lock = random.Random(0), threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def draw(self, body: dict[str, Any], headers: Mapping[str, str]) -> str:
        with self._lock:
            self.requests.append(body)
            self.headers.append(headers)
            names, shares = list(self.faults), list(self.faults.values())
            fault = self._random.choices([*names, "right"], [*shares, max(1 - sum(shares), 0)])[0]
            self.drawn[fault] += 1
            return fault

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are part of the play."""


class Handler(BaseHTTPRequestHandler):
    server: StandIn
    disable_nagle_algorithm = True
    wbufsize = 65_536

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = self.server.draw(body, dict(self.headers))
        answer = getattr(self, f"_{fault}", None)
        if answer is not None:
            answer(body)
        else:
            self._reply(int(fault), b"{}")

    def log_message(self, *arguments: Any) -> None:
        pass

    def _right(self, body: dict[str, Any]) -> None:
        self._say("A" if self._first(body) else "B")

    def _wrong(self, body: dict[str, Any]) -> None:
        self._say("B" if self._first(body) else "A")

    def _always_a(self, body: dict[str, Any]) -> None:
        self._say("A")

    def _biased(self, body: dict[str, Any]) -> None:
        """Says A whatever is asked, but is a little less sure of it where B is right."""
        chance = 0.99 if self._first(body) else 0.9
        tokens = {"A": 0.8 * chance, " A": 0.2 * chance, "B": 1 - chance, "The": 1e-9}
        self._say("A", [{"token": token, "logprob": math.log(share)} for token, share in tokens.items()])

    def _plain(self, body: dict[str, Any]) -> None:
        if "logprobs" in body:
            self._reply(400, b"{}")
        else:
            self._right(body)

    def _misgraded(self, body: dict[str, Any]) -> None:
        self._say("A" if self._first(body) else "B", [{"token": 7, "logprob": "much"}, {"token": "A", "logprob": 3.0}])

    def _chatty(self, body: dict[str, Any]) -> None:
        self._say("I think that A comes first, but B could as well.")

    def _thoughtful(self, body: dict[str, Any]) -> None:
        self._say(f"<think>Hm. B?</think>\n**{'A' if self._first(body) else 'B'}**")

    def _broken(self, body: dict[str, Any]) -> None:
        self._reply(200, b'{"choices": [')

    def _strange(self, body: dict[str, Any]) -> None:
        self._reply(200, b'{"choices": "none", "usage": {"prompt_tokens": -4, "completion_tokens": "many"}}')

    def _listed(self, body: dict[str, Any]) -> None:
        self._reply(200, b"[1, 2]")

    def _deep(self, body: dict[str, Any]) -> None:
        self._reply(200, b"[" * 200_000)

    def _huge(self, body: dict[str, Any]) -> None:
        self._reply(200, json.dumps({"choices": [{"message": {"content": "A" * 3_000_000}}]}).encode())

    def _slow(self, body: dict[str, Any]) -> None:
        time.sleep(self.server.slow)
        self._right(body)

    def _closed(self, body: dict[str, Any]) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _cut(self, body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b'{"choices"')
        self.close_connection = True

    def _moved(self, body: dict[str, Any]) -> None:
        self.send_response(307)
        self.send_header("Location", self.server.url + "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _busy(self, body: dict[str, Any]) -> None:
        self.send_response(429)
        self.send_header("Retry-After", "0.01")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _first(self, body: dict[str, Any]) -> bool:
        """Whether the sentence called A comes before the one called B."""
        _, _, asked = body["messages"][1]["content"].rpartition("\nA: ")
        if not asked:
            asked = body["messages"][1]["content"]
        first, second = PLACE.findall(asked)[:2]
        return int(first) < int(second)

    def _say(self, text: str, likeliest: list[dict[str, Any]] | None = None) -> None:
        usage = {"prompt_tokens": 100, "completion_tokens": 1}
        choice: dict[str, Any] = {"message": {"role": "assistant", "content": text}}
        if likeliest is not None:
            choice["logprobs"] = {"content": [{"token": text, "logprob": -0.1, "top_logprobs": likeliest}]}
        answer = {"choices": [choice], "usage": usage}
        self._reply(200, json.dumps(answer).encode())

    def _reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def standing_in(faults: Mapping[str, float] | None = None, *, slow: float = 0.5) -> Iterator[StandIn]:
    server = StandIn(faults or {}, slow=slow)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def judge_of(server: StandIn, **options: object) -> ChatJudge:
    return ChatJudge(server.url, "stand-in", first_wait=0.001, **options)  # type: ignore[arg-type]
