"""The files of a folder that came from elsewhere: regular ones inside it, checked against the hashes it was given."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from unshuffle.errors import ConfigError

LARGEST = 2**28
"""Bytes of a file for which no other limit is known; that of weights is known from the network."""


class FolderFiles:
    """Reads files of one folder; what is hashed is what is parsed, since both come from the same bytes."""

    def __init__(self, folder: Path, hashes: Mapping[str, str] | None = None) -> None:
        """`hashes`: SHA-256 of files by their path within the folder; others are read unchecked."""
        self.folder = folder
        self.hashes = dict(hashes or {})

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return (self.folder / name).is_file()

    def read(self, file: Path, most: int = LARGEST) -> bytes:
        """A file of the folder, of at most `most` bytes."""
        try:
            inside, found = self.folder.resolve(), file.resolve(strict=True)
            if not found.is_relative_to(inside):
                raise _not_regular(file)
            # Without waiting, because a pipe that nobody writes to would wait for ever.
            handle = os.open(found, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            with os.fdopen(handle, "rb") as opened:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise _not_regular(file)
                if os.fstat(handle).st_size > most:
                    raise ConfigError(f"{file}: it is larger than {most} bytes, so it does not belong here.")
                content = opened.read(most)
        except (OSError, RuntimeError, ValueError) as error:  # also links that lead to themselves, and zeros in names
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise ConfigError(f"{file}: it cannot be read ({reason}). Copy the whole model folder.") from None
        wanted = self.hashes.get(file.relative_to(self.folder).as_posix())
        if wanted is not None and hashlib.sha256(content).hexdigest() != wanted:
            raise ConfigError(f"{file}: not as it was written with config.json. Download the model folder again.")
        return content


def _not_regular(file: Path) -> ConfigError:
    return ConfigError(f"{file}: it is not a regular file of the model folder. Copy the file into the folder.")
