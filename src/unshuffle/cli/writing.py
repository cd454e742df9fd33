"""Where a command's answer goes: to stdout as it comes, or to a file that is there whole or not at all."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from unshuffle.storage.files import write_whole


def to_terminal(out: Path | None) -> bool:
    """Whether the answer is shown on a terminal."""
    return out is None and sys.stdout.isatty()


def write_pieces(pieces: Iterable[str], out: Path | None) -> None:
    """Writes pieces one by one, in constant memory."""
    if out is None:
        for piece in pieces:
            # As bytes: what the terminal's encoding lacks must not end the command.
            sys.stdout.buffer.write(piece.encode("utf-8", "surrogatepass"))
            sys.stdout.buffer.flush()
        return

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as target:
            target.writelines(pieces)

    write_whole(out, write)


def write_bytes(content: bytes, out: Path | None) -> None:
    """Writes a whole file at once."""
    if out is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    write_whole(out, write)
