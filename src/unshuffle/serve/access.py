"""Who may ask: the name in the Host header, and the bearer token."""

from __future__ import annotations

import hashlib
import hmac

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from unshuffle.serve.answers import problem
from unshuffle.serve.settings import LOOPBACK_NAMES, Settings

OPEN = frozenset({"/", "/healthz", "/openapi.json"})
"""Paths that need no token, besides the page's files."""


class KnownHost:
    """Answers only under names that are the service's own, so that no foreign page can reach it by a rebound name."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self.app = app
        host = f"[{settings.host}]" if ":" in settings.host and not settings.host.startswith("[") else settings.host
        self.names = {name.lower() for name in (*LOOPBACK_NAMES, *settings.allowed_hosts)}
        self.names.add(f"{host}:{settings.port}".lower())
        if settings.port in {80, 443}:
            self.names.add(host.lower())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that names this service."""
        if scope["type"] == "http" and not self.known(Headers(scope=scope).get("host", "")):
            number = scope["state"]["request"]
            wrong = problem(421, "host: this service is not known by that name. See --allow-host.", number)
            await wrong(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def known(self, host: str) -> bool:
        """Whether a Host header's value, with or without port, is allowed."""
        host = host.lower()
        name, colon, port = host.rpartition(":")
        without_port = name if colon and port.isdigit() else host
        return host in self.names or without_port in self.names


class Bearer:
    """Asks for the token everywhere but at the page, its files, the health and the description of the service."""

    def __init__(self, app: ASGIApp, *, token: str | None) -> None:
        self.app = app
        self.digest = _digest(token) if token is not None else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that is open to all or carries the token."""
        guarded = scope["type"] == "http" and scope["path"] not in OPEN and not scope["path"].startswith("/page/")
        if self.digest is None or not guarded or self._carries_token(scope):
            await self.app(scope, receive, send)
            return
        headers = {"www-authenticate": "Bearer"}
        wrong = problem(
            401, "token: it is missing or wrong. Send 'Authorization: Bearer ...'.", scope["state"]["request"], headers
        )
        await wrong(scope, receive, send)

    def _carries_token(self, scope: Scope) -> bool:
        scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        # Digests have one length, so the comparison takes the same time for every guess.
        return hmac.compare_digest(_digest(given.strip()), self.digest or b"") and scheme.lower() == "bearer"


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
