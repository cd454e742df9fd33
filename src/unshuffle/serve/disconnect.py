"""Work for a client that has gone is given up."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send


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
