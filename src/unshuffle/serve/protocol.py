"""How connections are held: none waits for a header without end, and none is cut off between two requests."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from unshuffle.serve.settings import Connections

FULL = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BoundedProtocol(H11Protocol):
    """Uvicorn's own protocol, with a time limit on headers and a limit on open connections."""

    limits = Connections()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; if there are too many, close the one that has kept us waiting longest."""
        super().connection_made(transport)
        self.idle_since = time.monotonic()
        self._deadline: asyncio.TimerHandle | None = None
        self._unsent: asyncio.TimerHandle | None = None
        self._wait_for_header()
        if len(self.connections) > self.limits.most:
            everyone: set[Any] = {*self.connections}
            if others := [one for one in everyone if one is not self and one.awaited]:
                min(others, key=lambda one: one.idle_since).transport.close()
            else:
                transport.write(FULL)
                transport.close()

    @property
    def idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def awaited(self) -> bool:
        """Whether nothing can be done until the client sends more: a request, or the rest of one's body."""
        return self.idle or self.conn.their_state is h11.SEND_BODY

    def data_received(self, data: bytes) -> None:
        """Read; bytes that make no request do not prolong its time."""
        super().data_received(data)
        if self.idle:
            self._wait_for_header()
        else:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, and for the client to take the answer."""
        self.idle_since = time.monotonic()
        if self.transport.get_write_buffer_size() and self._unsent is None:
            self._unsent = self.loop.call_later(self.limits.send_seconds, self._abort_if_unsent)
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        if self._unsent is not None:
            self._unsent.cancel()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """The service ends: this connection's next answer is its last."""
        if not self.idle:
            self.cycle.default_headers = self.server_state.default_headers  # which now say that it is
            super().shutdown()
        elif not self.transport.is_closing():
            self.loop.call_later(self.limits.last_seconds, self._close_if_idle)

    def _wait_for_header(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.limits.header_seconds, self._close_if_idle)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _abort_if_unsent(self) -> None:
        self._unsent = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _close_if_idle(self) -> None:
        self._stop_waiting()
        if self.idle and not self.transport.is_closing():
            if self.conn.our_state is not h11.ERROR:
                self.conn.send(h11.ConnectionClosed())
            self.transport.close()
