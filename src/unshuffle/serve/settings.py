"""How a service is set up; what cannot be is refused before it starts."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field, fields

from unshuffle.errors import ConfigError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
SHORTEST_TOKEN = 16


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The most that one request may ask for."""

    bytes: int = 1_000_000
    """Size of a request's body."""
    sentences: int = 60
    """Sentences in a document."""
    words: int = 250
    """Words in a sentence."""
    characters: int = 4_000
    """Characters in a sentence; also bounds scripts that put no blank between words."""
    documents: int = 128
    """Documents in a batch."""
    document_cost: int = 5_000
    """Estimated cost of reading one document, in word pieces read; it cannot be interrupted."""
    cost: int = 80_000
    """Estimated cost of a whole request, in word pieces read."""

    def __post_init__(self) -> None:
        """Refuse limits that let nothing through."""
        for limit in fields(self):
            if getattr(self, limit.name) < 1:
                raise ConfigError(f"limit on {limit.name}: it must be at least 1.")


@dataclass(frozen=True, kw_only=True)
class Batching:
    """How requests share the model."""

    window: float = 0.004
    """Seconds for which the first request of a batch waits for company."""
    documents: int = 32
    """Documents that the model reads at once."""
    waiting: int = 256
    """Documents of short requests that may wait; beyond that the answer is 503."""
    slice: int = 1_000
    """Estimated cost, in word pieces read, beyond which a request is long and done in slices of about this cost."""
    long: int = 8
    """Long requests that may be under way, waiting or being done; beyond that the answer is 503."""
    seconds: float = 120.0
    """Time after which a request is given up; the costliest that is taken needs about half of it where two threads run
    on one core."""
    last_seconds: float = 30.0
    """Time for answers when the service ends; what is not answered by then is refused."""


@dataclass(frozen=True, kw_only=True)
class Connections:
    """How clients may hold their connections."""

    header_seconds: float = 10.0
    """Time for a request's header to come whole; also for what follows an answer and is no request."""
    body_seconds: float = 30.0
    """Time for its body."""
    send_seconds: float = 30.0
    """Time for a client to take an answer; one that does not is cut off."""
    idle_seconds: float = 5.0
    """Time for which a connection is kept for the next request."""
    last_seconds: float = 1.0
    """Time for which an idle connection stays open when the service ends: a request may be on its way."""
    most: int = 512
    """Connections that may be open; beyond that the one that has been idle longest is closed."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where the service listens, whom it answers, and how much it takes on."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    """What a client must send as bearer token; None asks for none."""
    allowed_hosts: tuple[str, ...] = ()
    """Further names, with or without port, under which the service may be addressed."""
    limits: Limits = field(default_factory=Limits)
    batching: Batching = field(default_factory=Batching)
    connections: Connections = field(default_factory=Connections)

    def __post_init__(self) -> None:
        """Refuse an open door: beyond this machine a token is needed."""
        if self.token is None and not is_loopback(self.host):
            raise ConfigError(
                f"host '{self.host}': other machines can reach it. Set UNSHUFFLE_TOKEN to a secret first."
            )
        if self.token is not None and len(self.token) < SHORTEST_TOKEN:
            raise ConfigError(f"token: it is too short. Give at least {SHORTEST_TOKEN} characters.")
        if self.token is not None and not (self.token.isascii() and self.token.isprintable() and " " not in self.token):
            raise ConfigError("token: it has characters that no HTTP header can carry. Use letters, digits and signs.")
        if self.batching.waiting < self.limits.documents:
            raise ConfigError(
                f"queue of {self.batching.waiting} documents: a batch of {self.limits.documents} would never fit. "
                "Raise the one or lower the other."
            )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
