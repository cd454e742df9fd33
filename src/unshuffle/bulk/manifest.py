"""What is done: one small file a part, written last; and what the whole run was begun with."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from unshuffle.bulk.parts import Part
from unshuffle.errors import ConfigError
from unshuffle.integrations.rows import RowSettings
from unshuffle.storage.files import read_json, write_json

FORMAT = 3
PART = re.compile(r".+-[0-9a-f]{32}-[0-9]{9,}", re.DOTALL)
"""Names of parts; whatever else lies in the folders is not ours to drop."""


@dataclass(frozen=True, slots=True)
class Done:
    """A part that is finished: its answer, and its errors if any, are on disk."""

    name: str
    source: str
    size: int
    changed: int
    rows: int | None
    """As planned; parts of another size are other parts."""
    ordered: int = 0
    bad: int = 0
    fault: str | None = None
    """What ended the file before its end."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Layout:
    """The folder of a run."""

    folder: Path

    def ordered(self, name: str) -> Path:
        """The answer of a part."""
        return self.folder / "ordered" / f"{name}.parquet"

    def errors(self, name: str) -> Path:
        """The rows of a part that have no answer, and why; not there where there are none."""
        return self.folder / "errors" / f"{name}.parquet"

    def done(self, name: str) -> Path:
        """That a part is done."""
        return self.folder / "manifest" / f"{name}.json"

    def journal(self, name: str) -> Path:
        """What a part's worker is at."""
        return self.folder / "working" / f"{name}.json"


def begin(layout: Layout, settings: RowSettings) -> None:
    """Takes an empty folder, or one that was begun with the same settings, and clears what killed writers left."""
    file = layout.folder / "run.json"
    mark = {"format": FORMAT, "settings": asdict(settings), "model": _fingerprint(settings.model)}
    if file.is_file():
        found = read_json(file)
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ConfigError(f"{layout.folder}: it was begun by another version of unshuffle. Give another --out.")
        if found != mark:
            raise ConfigError(
                f"{layout.folder}: it was begun with other settings or another model. Give another --out."
            )
    elif layout.folder.is_dir() and any(layout.folder.iterdir()):
        raise ConfigError(f"{layout.folder}: it is not empty, and no run of ours. Give another --out.")
    else:
        write_json(file, mark)
    for name in ("ordered", "errors", "manifest"):
        for litter in (layout.folder / name).glob(".*-*"):
            litter.unlink(missing_ok=True)


def drop_other_parts(layout: Layout, parts: Iterable[Part]) -> None:
    """Forgets parts that nobody will ask for: of files that are gone, shorter or cut otherwise, and unfinished ones.

    Finished parts of other files stay: they may have been given in another call.
    """
    sources = {part.name: part.source for part in parts}
    given = {os.path.realpath(source) for source in set(sources.values())}
    for folder in ("working", "errors", "ordered", "manifest"):  # the note last, since it tells whose the others are
        for file in (layout.folder / folder).glob("*"):
            if file.stem in sources or not PART.fullmatch(file.stem):
                continue
            done = _note(layout.done(file.stem))
            if done is None or not os.path.exists(done.source) or os.path.realpath(done.source) in given:
                file.unlink(missing_ok=True)


def finished(layout: Layout, parts: Iterable[Part]) -> dict[str, Done]:
    """The parts that need not be done again, by name; a changed file's parts are not among them."""
    found: dict[str, Done] = {}
    for part in parts:
        done = _note(layout.done(part.name))
        if done is None:
            continue
        same = (done.size, done.changed, done.rows) == (part.size, part.changed, part.rows)
        if same and layout.ordered(part.name).is_file():
            found[part.name] = done
    return found


def _note(file: Path) -> Done | None:
    """None where it is not there or damaged: such a part is done again."""
    try:
        return Done(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _fingerprint(model: str) -> str:
    """Of the description of a model, which holds the hashes of all that decides its orders."""
    from unshuffle.system.loading import find_folder

    try:
        return hashlib.sha256((find_folder(model) / "config.json").read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise ConfigError(f"{model}: it cannot be read ({error.strerror}). Give a model folder.") from None
