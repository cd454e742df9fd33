"""Who wrote the texts a model was trained on: the lines of the sets' credits that its mixture used."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from unshuffle.errors import DataError
from unshuffle.files import write_whole
from unshuffle.training.mixture import MixtureConfig, training_documents


def write_credits(mixture: MixtureConfig, data: Path, seed: int, file: Path) -> int:
    """One line a text (set, id, author, title, url, licence), packed; gives how many."""
    used = {document.id.rpartition("@")[0] or document.id for document in training_documents(mixture, data, seed)}
    lines = ["set\tid\tauthor\ttitle\turl\tlicence\n"]
    for source in mixture.sources:
        lines += [f"{source.name}\t{line}" for line in _lines(data / source.name) if line.partition("\t")[0] in used]

    def write(temporary: Path) -> None:
        with gzip.GzipFile(temporary, "wb", mtime=0) as out:
            out.write("".join(lines).encode("utf-8"))

    write_whole(file, write)
    return len(lines) - 1


def _lines(folder: Path) -> Iterator[str]:
    try:
        with gzip.open(folder / "credits.tsv.gz", "rt", encoding="utf-8") as lines:
            next(lines, None)  # the header
            yield from lines
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{folder}/credits.tsv.gz: it cannot be read ({error}). The set is not whole.") from None
