"""Runs the service until it is told to stop."""

from __future__ import annotations

import sys

import uvicorn

from unshuffle.serve.app import make_app
from unshuffle.serve.contract import Model
from unshuffle.serve.logs import set_up_logs
from unshuffle.serve.settings import Settings


def run(model: Model, settings: Settings) -> None:
    """Serve; on SIGTERM or Ctrl-C answer what was accepted, then return."""
    set_up_logs(sys.stderr)
    config = uvicorn.Config(
        make_app(model, settings),
        host=settings.host.strip("[]"),
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        # A name in such a header is the client's word; a proxy's would have to be trusted by option.
        proxy_headers=False,
        # Longer than any request may take, so that none that was accepted is cut off.
        timeout_graceful_shutdown=int(settings.batching.seconds) + 5,
    )
    uvicorn.Server(config).run()
