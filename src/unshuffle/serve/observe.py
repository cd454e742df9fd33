"""Around every request: its number, its log line, its counters, and an answer even if the code fails."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Collection

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unshuffle.serve.answers import HEADERS, problem
from unshuffle.serve.logs import log, logger
from unshuffle.serve.metrics import Meters

CLIENT_GONE = 499
"""Written where a status would stand if the client has gone before its answer, as proxies do."""


class Observe:
    """The outermost layer of the service."""

    def __init__(self, app: ASGIApp, *, meters: Meters, paths: Collection[str]) -> None:
        self.app = app
        self.meters = meters
        self.paths = paths
        """Known ones: a request that is refused before the router sees it is logged under its own."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number = secrets.token_hex(8)
        scope["state"] = {**scope.get("state", {}), "request": number, "facts": {}}
        head = scope["method"] == "HEAD"
        if head:  # answered like GET, without the body
            scope = {**scope, "method": "GET"}
        began = time.perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                extra = {**HEADERS, "x-request-id": number}
                message["headers"] = [
                    *message.get("headers", ()),
                    *((name.encode(), value.encode()) for name, value in extra.items()),
                ]
            elif head:
                message = {**message, "body": b""}
            await send(message)

        self.meters.open.inc()
        try:
            await self.app(scope, receive, send_with_headers)
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # a panic in a library written in Rust is no Exception
            logger.exception("failed", extra={"facts": {"request": number}})
            if not status:
                failed = problem(500, f"the service failed. Its log says more under {number}.", number)
                await failed(scope, receive, send_with_headers)
        finally:
            self.meters.open.dec()
            method = "HEAD" if head else scope["method"] if scope["method"] in {"GET", "POST"} else "(other)"
            self._record(scope, method, status or CLIENT_GONE, time.perf_counter() - began)

    def _record(self, scope: Scope, method: str, status: int, seconds: float) -> None:
        # Only the template of a known path: a raw one could carry anything, and would make counters without end.
        unrouted = scope["path"] if scope["path"] in self.paths else "(other)"
        path = getattr(scope.get("route"), "path", unrouted)
        self.meters.requests.labels(path, str(status)).inc()
        self.meters.seconds.labels(path).observe(seconds)
        state = scope["state"]
        log(
            "request",
            request=state["request"],
            method=method,
            path=path,
            status=status,
            ms=round(seconds * 1000, 1),
            **state["facts"],
        )
