"""What was computed once, kept on disk under the hash of what it was computed from."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from unshuffle.errors import ConfigError

CHUNK = 512
"""Rows looked up by one statement; SQLite allows a limited number of parameters."""
PATIENCE = 30.0
"""Seconds to wait for another process that is writing."""
MOST_BYTES = 8 * 2**30
"""The size of one file from which entries are dropped."""

log = logging.getLogger(__name__)


class ContentCache:
    """A bounded table of bytes by hash that several processes may share; losing it costs time and nothing else."""

    def __init__(
        self, folder: str | os.PathLike[str], what: str, fingerprint: str, *, most_bytes: int = MOST_BYTES
    ) -> None:
        """`what` names the entries ("parses"), and `fingerprint` whatever computes them."""
        self._what = what
        self._file = Path(folder) / f"{what}-{fingerprint}.sqlite"
        self._most_bytes = most_bytes
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"{folder}: no folder for {what} can be made here ({error.strerror}). Give another."
            ) from None

    def read(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The entries that are known."""
        found: dict[bytes, bytes] = {}
        wanted = iter(dict.fromkeys(keys))
        with self._survived("read"), self._open() as store:
            while some := list(islice(wanted, CHUNK)):
                marks = ",".join("?" * len(some))
                for key, content in store.execute(f"SELECT * FROM {self._what} WHERE key IN ({marks})", some):
                    if isinstance(content, bytes | str):  # a damaged row may hold anything
                        found[bytes(key)] = content.encode() if isinstance(content, str) else content
        return found

    def write(self, entries: Mapping[bytes, bytes]) -> None:
        """Keeps entries for later."""
        with self._survived("written"), self._open() as store, store:
            store.executemany(f"INSERT OR REPLACE INTO {self._what} VALUES (?, ?)", entries.items())
            self._make_room(store)

    def _make_room(self, store: sqlite3.Connection) -> None:
        """Drops a quarter of the entries where there are too many: keys are hashes, so any range is a random choice."""
        size, pages, free = (
            int(store.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_size", "page_count", "freelist_count")
        )
        if size * (pages - free) > self._most_bytes:
            first = 64 * random.randrange(4)
            store.execute(
                f"DELETE FROM {self._what} WHERE key >= ? AND (key < ? OR ?)",
                (bytes([first]), bytes([min(first + 64, 255)]), first == 192),
            )

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # Opened each time: a connection may cross neither threads nor forks.
        with contextlib.closing(sqlite3.connect(self._file, timeout=PATIENCE)) as store:
            store.execute(f"CREATE TABLE IF NOT EXISTS {self._what} (key BLOB PRIMARY KEY, content BLOB) WITHOUT ROWID")
            yield store

    @contextlib.contextmanager
    def _survived(self, done: str) -> Iterator[None]:
        """Turns what is wrong with the file into a warning, and starts a damaged one again."""
        try:
            yield
        except sqlite3.OperationalError as error:  # locked, full, not writable
            log.warning("%s: %s cannot be %s (%s).", self._file, self._what, done, error)
        except (sqlite3.DatabaseError, ValueError) as error:
            self._rebuild(error)

    def _rebuild(self, error: Exception) -> None:
        log.warning("%s: the file is damaged (%s) and is started again.", self._file, error)
        broken = self._file.with_suffix(f".broken-{os.getpid()}")
        with contextlib.suppress(OSError):  # another process may have moved it first
            self._file.replace(broken)
            broken.unlink()
        for leftover in ("-journal", "-wal", "-shm"):
            Path(f"{self._file}{leftover}").unlink(missing_ok=True)
