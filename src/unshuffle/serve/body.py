"""Reads a request's body, and stops where it grows too large, comes too slowly or is not JSON."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Collection, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unshuffle.serve.answers import problem
from unshuffle.serve.complaints import NOT_UTF8

CHARSET = re.compile(r';\s*charset\s*=\s*"?([^\s";]*)')


class BoundedBody:
    """Holds at most the allowed number of bytes; nothing is parsed before all have come."""

    def __init__(self, app: ASGIApp, *, paths: Collection[str], most: int, seconds: float) -> None:
        self.app = app
        self.paths = paths
        """To which something can be posted; elsewhere the router says what is wrong."""
        self.most = most
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request with its whole body."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number = scope["state"]["request"]
        if {"content-length", "transfer-encoding"} <= set(Headers(scope=scope)):
            # A proxy might believe the one where we believe the other, and see another request in the body.
            message = "content-length: it came with transfer-encoding. Send one of the two."
            await problem(400, message, number, {"connection": "close"})(scope, receive, send)
            return
        if scope["method"] != "POST" or scope["path"] not in self.paths:
            await self.app(scope, receive, send)
            return
        # A foreign page can post plain text or forms without asking first, but not JSON.
        kind = Headers(scope=scope).get("content-type", "").lower()
        if kind.partition(";")[0].strip() != "application/json":
            await problem(415, "content-type: it is not JSON. Send application/json.", number)(scope, receive, send)
            return
        charset = CHARSET.search(kind)
        if charset and charset[1] not in {"utf-8", "utf8", "us-ascii"}:
            message = "content-type: its charset is not UTF-8. Encode the body as UTF-8."
            await problem(415, message, number)(scope, receive, send)
            return
        try:
            body = await asyncio.wait_for(self._read(scope, receive), self.seconds)
        except TimeoutError:
            wrong = problem(408, "body: it came too slowly. Send it again.", number, {"connection": "close"})
        except OverflowError:
            wrong = problem(
                413, f"body: it is too large. Send at most {self.most} bytes.", number, {"connection": "close"}
            )
        else:
            if body is not None:
                await call_while_awaited(self.app, scope, body, receive, send)
            return
        await wrong(scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body, or None if the client has gone."""
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdigit() and int(announced) > self.most:
            raise OverflowError
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > self.most:
                raise OverflowError
            if not message.get("more_body"):
                return bytes(body)


class StrictJson(Request):
    """A request whose JSON is read with bounds on nesting and digits and without half characters."""

    async def json(self) -> Any:
        """The body as Python objects."""
        body = await self.body()
        try:
            body.decode()
            return from_json(body, allow_inf_nan=False)
        except UnicodeDecodeError:
            raise json.JSONDecodeError(NOT_UTF8, "", 0) from None
        except ValueError as error:
            raise json.JSONDecodeError(str(error), "", 0) from None


class StrictRoute(APIRoute):
    """A route that reads its body as `StrictJson`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, given the strict request in place of the usual one."""
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(StrictJson(request.scope, request.receive))

        return strict


async def call_while_awaited(app: ASGIApp, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
    """Call an application with a body that has been read, and cancel it if the client goes before its answer."""
    replayed = answered = False
    gone = asyncio.Event()

    async def replay() -> Message:
        nonlocal replayed
        if replayed:
            await gone.wait()
            return {"type": "http.disconnect"}
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def note(message: Message) -> None:
        nonlocal answered
        answered = answered or (message["type"] == "http.response.body" and not message.get("more_body"))
        await send(message)

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    work = asyncio.ensure_future(app(scope, replay, note))
    watching = asyncio.ensure_future(watch())
    try:
        await asyncio.wait({work, watching}, return_when=asyncio.FIRST_COMPLETED)
        # An answer that is complete also ends the wait for the client, and is no reason to cancel.
        if not work.done() and not answered:
            work.cancel()
        await asyncio.wait({work})
    finally:
        watching.cancel()
        work.cancel()
    if not work.cancelled():
        work.result()
