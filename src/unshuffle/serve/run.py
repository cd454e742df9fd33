"""Runs the service until it is told to stop."""

from __future__ import annotations

import errno
import socket
import sys
from collections.abc import Sequence

import uvicorn
from fastapi import FastAPI

from unshuffle.errors import ConfigError
from unshuffle.serve.app import make_app
from unshuffle.serve.contract import ServedModel
from unshuffle.serve.logs import set_up_logs
from unshuffle.serve.protocol import BoundedProtocol
from unshuffle.serve.settings import Settings

BACKLOG = 2048


def listen(settings: Settings) -> list[socket.socket]:
    """Take the address, or say that it cannot be had; clients that come before `run` wait."""
    host = settings.host.strip("[]")
    taken: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
            taken.append(socket.create_server(address[:2], family=family, backlog=BACKLOG))
    except OSError as error:
        for one in taken:
            one.close()
        # `create_server` adds the address, which stands in front already.
        reason = (error.strerror or str(error)).partition(" (while ")[0].lower()
        advice = "Stop the other program, or choose" if error.errno == errno.EADDRINUSE else "Choose"
        raise ConfigError(f"{settings.host}:{settings.port}: {reason}. {advice} another --port or --host.") from None
    return taken


def run(
    model: ServedModel,
    settings: Settings,
    sockets: list[socket.socket] | None = None,
    others: Sequence[ServedModel] = (),
) -> None:
    """Serve; on SIGTERM or Ctrl-C answer what was accepted, then return."""
    sockets = sockets or listen(settings)
    set_up_logs(sys.stderr)
    protocol = type("Protocol", (BoundedProtocol,), {"limits": settings.connections})
    config = uvicorn.Config(
        make_app(model, settings, others),
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        # A name in such a header is the client's word; a proxy's would have to be trusted by option.
        proxy_headers=False,
        timeout_keep_alive=settings.connections.idle_seconds,  # type: ignore[arg-type]
        # Longer than what is under way may take, so that nothing that was accepted is cut off without an answer.
        timeout_graceful_shutdown=int(settings.batching.last_seconds) + 5,
    )
    Server(config).run(sockets)


class Server(uvicorn.Server):
    """Says in every answer of its last moments that the connection ends with it, so that no client is cut off."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what was accepted, and end."""
        app = self.config.app
        if isinstance(app, FastAPI):
            app.state.batcher.stop()
        self.server_state.default_headers.append((b"connection", b"close"))
        await super().shutdown(sockets)
