"""Requests to a chat-completions endpoint: bounded in size and time, repeated where that helps, given up in the end."""

from __future__ import annotations

import json
import logging
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import OpenerDirector, Request

from unshuffle.errors import ConfigError, one_line
from unshuffle.judge.connections import bounded_opener
from unshuffle.result import Spend

log = logging.getLogger(__name__)

MOST_BYTES = 1_000_000
"""Of a reply; one letter is asked for."""
CHUNK = 65_536
LONGEST_WAIT = 30.0
"""Seconds before a repetition, whatever the endpoint asks for."""
FAILURES = 5
"""Requests in a row that failed at every attempt, after which the endpoint is given up."""
AGAIN = frozenset({408, 409, 425, 429, *range(500, 600)})
"""Answers after which the same request may succeed."""
HOPELESS = frozenset({401, 402, 403, 404, 405, *range(300, 400)})
"""Answers that every request will get."""
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class _Refused(Exception):
    """A request that is not worth repeating."""

    def __init__(self, reason: str, *, status: int = 0) -> None:
        super().__init__(reason)
        self.status = status


class _Later(Exception):
    """A request that may succeed if it is repeated."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, if anything, and what it took."""

    content: dict[str, Any] | None
    spend: Spend
    failed: str = ""
    """Why nothing came back."""
    refused: int = 0
    """The status with which the endpoint refused, if it did."""


@dataclass
class Endpoint:
    """One endpoint, which several threads may use."""

    url: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    """Seconds for one attempt."""
    attempts: int = 4
    first_wait: float = 0.5
    """Seconds before the first repetition; each later one waits twice as long."""
    at_once: int = 8
    """Requests under way at the same time."""
    given_up: str = ""
    """Why nothing is sent any more."""
    _failures: int = 0
    _told: bool = False

    def __post_init__(self) -> None:
        self.url = chat_url(self.url)
        if self.timeout <= 0 or self.attempts < 1 or self.at_once < 1:
            raise ConfigError("judge: timeout, attempts and at_once must be more than 0.")
        if not self.key.isascii() or not self.key.isprintable():
            raise ConfigError("judge: the key has characters that no key has. Set it again.")
        parts = urlsplit(self.url)
        if self.key and parts.scheme == "http" and parts.hostname not in LOCAL:
            log.warning("%s: the key is sent unencrypted. Use https.", self.url)
        self._opener: OpenerDirector = bounded_opener(MOST_BYTES)
        self._places = threading.BoundedSemaphore(self.at_once)
        self._lock, self._telling = threading.Lock(), threading.Lock()

    def ask(self, body: Mapping[str, Any]) -> Reply:
        """Sends a request until it is answered, refused, or has failed too often; never raises."""
        sent, reason = 0, ""
        wait, asked = self.first_wait, None
        for attempt in range(self.attempts):
            with self._places:
                if self.given_up:
                    break
                sent += 1
                try:
                    content = self._send(json.dumps(body).encode())
                except _Refused as refusal:
                    self._note(str(refusal), for_good=refusal.status in HOPELESS)
                    return Reply(None, Spend(requests=sent), str(refusal), refusal.status)
                except _Later as failure:
                    reason, asked = str(failure), failure.wait
                else:
                    self._note("")
                    return Reply(content, Spend(requests=sent) + _tokens(content))
            if attempt + 1 < self.attempts:
                time.sleep(min(wait * (1 + random.random()) if asked is None else asked, LONGEST_WAIT))
                wait *= 2
        if reason:
            self._note(reason, failed=True)
        return Reply(None, Spend(requests=sent), reason or self.given_up)

    def tell(self, message: str) -> None:
        """One warning for all that fails: what an endpoint refuses once it mostly goes on refusing."""
        with self._telling:
            told, self._told = self._told, True
        if not told:
            log.warning("unshuffle: judge %s: %s", self.url, message)

    def _note(self, reason: str, *, failed: bool = False, for_good: bool = False) -> None:
        """Keeps count of failures in a row, and gives up after too many."""
        with self._lock:
            self._failures = self._failures + 1 if failed else 0
            if (for_good or self._failures >= FAILURES) and not self.given_up:
                self.given_up = reason
                self.tell(f"{reason}. The judge is not asked any more; orders go without it.")

    def _send(self, body: bytes) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = Request(self.url, data=body, headers=headers, method="POST")
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                raw = _bounded(response)
        except HTTPError as error:
            error.close()
            said = f"it answered {error.code}"
            if error.code in AGAIN:
                raise _Later(said, retry_after(error.headers.get("Retry-After"))) from None
            raise _Refused(said, status=error.code) from None
        except (OSError, HTTPException) as error:  # refused, closed, too slow, not HTTP
            raise _Later(one_line(f"{type(error).__name__}: {error}")[:200]) from None
        try:
            content = json.loads(raw)
        except (ValueError, RecursionError):
            raise _Later("it answered with broken JSON") from None
        if not isinstance(content, dict):
            raise _Refused("its answer is no chat completion")
        return content


def chat_url(url: str) -> str:
    """`https://host/v1` -> `https://host/v1/chat/completions`."""
    wrong = ConfigError(f"judge {url}: expected an address such as http://localhost:8080/v1, without a password.")
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # half a bracket, or a port that none has
        raise wrong from None
    if not named or parts.username or parts.password:
        raise wrong
    path = parts.path.rstrip("/") or "/v1"
    if not path.endswith("/chat/completions"):
        path += "/chat/completions"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def retry_after(given: str | None) -> float | None:
    """Seconds that the endpoint wants to be left alone; None where it does not say."""
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(given).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return None
    return min(max(seconds, 0.0), LONGEST_WAIT) if seconds == seconds else None


def _bounded(response: Any) -> bytes:
    """The body, unless it is too long."""
    parts, size = [], 0
    while part := response.read1(CHUNK):
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            raise _Refused(f"its answer is longer than {MOST_BYTES} bytes")
    return b"".join(parts)


def _tokens(content: Mapping[str, Any]) -> Spend:
    """What the endpoint says it has counted; nonsense counts as nothing."""
    usage = content.get("usage")
    counts = [usage.get(name, 0) if isinstance(usage, dict) else 0 for name in ("prompt_tokens", "completion_tokens")]
    read, written = (
        count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**40 else 0
        for count in counts
    )
    return Spend(tokens_read=read, tokens_written=written)
