"""Vectors of a frozen encoder kept on disk by content, so that a corpus is run through it once."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from unshuffle.errors import ConfigError

LOOKED_UP_AT_ONCE = 512
PATIENCE = 30.0
"""Seconds to wait for another process that is writing."""

log = logging.getLogger(__name__)


def fingerprint(model: nn.Module, description: str) -> str:
    """A name for a model's exact weights and for what they are the weights of."""
    digest = hashlib.blake2b(description.encode(), digest_size=16)
    for name, value in model.state_dict().items():
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


class VectorCache:
    """Half-precision vectors by key; a file that cannot be used costs time and nothing else."""

    def __init__(self, folder: str | os.PathLike[str], model: nn.Module, description: str) -> None:
        self._file = Path(folder) / f"vectors-{fingerprint(model, description)}.sqlite"
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"{folder}: no folder for vectors can be made here ({error.strerror}). Give another."
            ) from None

    def key(self, *parts: Tensor) -> bytes:
        """The key of what is computed from these whole numbers."""
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            content = part.cpu().numpy().astype("<i8").tobytes()
            digest.update(len(content).to_bytes(8, "little") + content)
        return digest.digest()

    def read(self, keys: Sequence[bytes], width: int) -> dict[bytes, Tensor]:
        """The vectors that are known."""
        found: dict[bytes, Tensor] = {}
        wanted = list(dict.fromkeys(keys))
        try:
            with self._open() as store:
                for first in range(0, len(wanted), LOOKED_UP_AT_ONCE):
                    some = wanted[first : first + LOOKED_UP_AT_ONCE]
                    marks = ",".join("?" * len(some))
                    for key, content in store.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some):
                        if len(content) == 2 * width:  # a damaged row is computed again
                            vector = np.frombuffer(content, "<f2").astype(np.float32)
                            found[bytes(key)] = torch.from_numpy(vector)
        except sqlite3.Error as error:
            log.warning("%s: vectors cannot be read (%s); computing them anew.", self._file, error)
            return {}
        return found

    def write(self, vectors: dict[bytes, Tensor]) -> None:
        """Keeps vectors for later."""
        rows = [(key, vector.cpu().numpy().astype("<f2").tobytes()) for key, vector in vectors.items()]
        try:
            with self._open() as store, store:
                store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            log.warning("%s: vectors cannot be kept (%s). Remove the file if it is damaged.", self._file, error)

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # Opened anew each time: a connection may cross neither threads nor forks.
        with contextlib.closing(sqlite3.connect(self._file, timeout=PATIENCE)) as store:
            store.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
            yield store
