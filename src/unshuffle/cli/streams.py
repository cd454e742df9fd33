"""Looking at the beginning of a stream and reading it from there all the same."""

from __future__ import annotations

import io
from typing import IO, Any

from unshuffle.text.readers.recognise import ENOUGH


def looked_into(stream: IO[bytes]) -> tuple[bytes, IO[bytes]]:
    """The first bytes of a stream, and a stream of all of it."""
    head = stream.read(ENOUGH)
    return head, io.BufferedReader(_Rejoined(head, stream))


class _Rejoined(io.RawIOBase):
    """Bytes that were read already, followed by the rest of their stream."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = io.BytesIO(head)
        self._rest = rest
        self.name = getattr(rest, "name", None)  # messages show it

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # At most as much as is there: whoever types line by line is answered so.
        read = getattr(self._rest, "read1", self._rest.read)
        part = self._head.read(len(buffer)) or read(len(buffer))
        buffer[: len(part)] = part
        return len(part)
