"""HTTP connections on which everything that comes back is bounded, in bytes and in time, the header included."""

from __future__ import annotations

import socket
import time
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from typing import Any
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    Request,
    build_opener,
)

MOST_HEADER = 262_144
"""Bytes of a reply beyond its body: status lines, headers, sizes of chunks and trailers."""


class _Incoming(RawIOBase):
    """What comes from a socket, until it is too much or too late.

    The library bounds each wait and each line, but not how many there are: interim answers, bytes of a header or lines
    after the body may follow each other for ever.
    """

    def __init__(self, taken: socket.socket, raw: Any, *, most: int, deadline: float) -> None:
        self._socket, self._raw, self._left, self._deadline = taken, raw, most, deadline

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Some bytes."""
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("its answer took too long")
        self._socket.settimeout(seconds)
        count: int | None = self._raw.readinto(buffer)
        self._left -= count or 0
        if self._left < 0:
            raise HTTPException("its answer is too long")
        return count

    def close(self) -> None:
        """The socket's file too, which holds the socket open."""
        self._raw.close()
        super().close()


class _Reply(HTTPResponse):
    def __init__(self, taken: socket.socket, *given: Any, most: int, deadline: float, **options: Any) -> None:
        super().__init__(taken, *given, **options)
        self.fp: Any = BufferedReader(_Incoming(taken, self.fp.detach(), most=most, deadline=deadline))


def _bounded(connection: Any, most: int, *given: Any, timeout: float, **options: Any) -> Any:
    """A connection of this class, whose replies have the time that is left of its own."""
    made = connection(*given, timeout=timeout, **options)
    made.response_class = partial(_Reply, most=most, deadline=time.monotonic() + timeout)
    return made


class _Http(HTTPHandler):
    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def http_open(self, request: Request) -> HTTPResponse:
        """Over a bounded connection."""
        return self.do_open(partial(_bounded, HTTPConnection, self.most), request)


class _Https(HTTPSHandler):
    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def https_open(self, request: Request) -> HTTPResponse:
        """Over a bounded connection, with certificates checked as the library does."""
        return self.do_open(partial(_bounded, HTTPSConnection, self.most), request)


class _NoRedirects(HTTPRedirectHandler):
    """The key and the text go where the user said, and nowhere else; where to is not even looked at."""

    def http_error_302(self, req: Request, fp: Any, code: int, msg: str, headers: Any) -> None:
        """Never."""

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def bounded_opener(most: int) -> OpenerDirector:
    """Opens addresses of the web; a reply whose body has more than `most` bytes, or that takes too long, is cut off."""
    most += MOST_HEADER
    return build_opener(_Http(most), _Https(most), _NoRedirects)
