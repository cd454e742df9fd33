"""Who wrote the texts a model was trained on: the lines of the sets' credits that its mixture used."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from unshuffle.errors import DataError
from unshuffle.files import write_whole
from unshuffle.training.mixture import MixtureConfig, training_documents

CREDITS = "CREDITS.tsv.gz"
"""In a model folder."""
HEADER = "set\tid\tauthor\ttitle\turl\tlicence\n"


def write_credits(mixture: MixtureConfig, data: Path, seed: int, file: Path, earlier: Path | None = None) -> int:
    """One line a text (set, id, author, title, url, licence), packed; gives how many.

    `earlier` are the credits of the model that the training began with.
    """
    used = {document.id.rpartition("@")[0] or document.id for document in training_documents(mixture, data, seed)}
    lines = [] if earlier is None else list(_lines(earlier))
    for source in mixture.sources:
        credited = _lines(data / source.name / "credits.tsv.gz")
        lines += [f"{source.name}\t{line}" for line in credited if line.partition("\t")[0] in used]
    lines = list(dict.fromkeys(lines))

    def write(temporary: Path) -> None:
        with gzip.GzipFile(temporary, "wb", mtime=0) as out:
            out.write("".join([HEADER, *lines]).encode("utf-8"))

    write_whole(file, write)
    return len(lines)


def _lines(file: Path) -> Iterator[str]:
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            next(lines, None)  # the header
            yield from lines
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: it cannot be read ({error}). The set is not whole.") from None
