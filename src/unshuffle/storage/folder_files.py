"""The files of a folder that came from elsewhere: regular ones inside it, checked against the hashes it was given."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Mapping
from pathlib import Path

from unshuffle.errors import ConfigError


class FolderFiles:
    """Reads files of one folder; what is hashed is what is parsed, since both come from the same bytes."""

    def __init__(self, folder: Path, hashes: Mapping[str, str] | None = None) -> None:
        """`hashes`: SHA-256 of files by their path within the folder; others are read unchecked."""
        self.folder = folder
        self.hashes = dict(hashes or {})

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return (self.folder / name).is_file()

    def read(self, file: Path, most: int | None = None) -> bytes:
        """A file of the folder, of at most `most` bytes."""
        try:
            inside, found = self.folder.resolve(), file.resolve(strict=True)
        except OSError as error:
            raise ConfigError(f"{file}: it cannot be read ({error.strerror}). Copy the whole model folder.") from None
        if not found.is_relative_to(inside) or not stat.S_ISREG(found.stat().st_mode):
            raise ConfigError(f"{file}: it is not a regular file of the model folder. Copy the file into the folder.")
        if most is not None and found.stat().st_size > most:
            raise ConfigError(f"{file}: it is larger than {most} bytes, so it does not belong here.")
        content = found.read_bytes()
        wanted = self.hashes.get(file.relative_to(self.folder).as_posix())
        if wanted is not None and hashlib.sha256(content).hexdigest() != wanted:
            raise ConfigError(f"{file}: not as it was written with config.json. Download the model folder again.")
        return content
