"""Who wrote the texts a model was trained on: the lines of the sets' credits that its recipe used."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

from unshuffle.errors import DataError
from unshuffle.storage.files import write_whole
from unshuffle_research.model.passes import texts_of
from unshuffle_research.model.recipe import Recipe

CREDITS = "CREDITS.tsv.gz"
"""In a model folder."""
OWN = "everyday/"
"""Texts that were written for the project."""
HEADER = "set\tid\tauthor\ttitle\turl\tlicence\n"


def write_credits(recipe: Recipe, data: Path, seeds: Sequence[int], file: Path, *, before: Sequence[Path] = ()) -> int:
    """One line per text that any pass has drawn (set, id, author, title, url, licence), packed; how many there are.

    The credits of a set lie beside its texts; the project's own texts need none. `before`: credits of models that
    the training began with, whose lines are taken over.
    """
    used = {
        document.id.rpartition("@")[0] or document.id
        for seed in seeds
        for texts in texts_of(recipe, data, seed)
        for document in texts
    }
    folders = dict.fromkeys(
        Path(name).parent
        for each in recipe.passes
        for source in each.mixture.sources
        for name in source.train
        if not name.startswith(OWN)
    )
    lines = [
        f"{folder.name}\t{line}"
        for folder in folders
        for line in _lines(data / folder / "credits.tsv.gz")
        if line.partition("\t")[0] in used
    ]

    lines = sorted({*lines, *(line for earlier in before for line in _lines(earlier))})

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
