"""One command from what people have to what trainings read, checked by size and checksum."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unshuffle.errors import ConfigError, DataError
from unshuffle.storage.files import write_json, write_whole
from unshuffle.text.document import Document
from unshuffle.training.corpus import find_split
from unshuffle_research.experiments.datasets.layouts import LAYOUTS, format_of
from unshuffle_research.experiments.datasets.preset import SPLITS, Form, Preset, checksum, load_preset


@dataclass(frozen=True)
class Prepared:
    """What was written."""

    name: str
    form: str
    """Which known form it is; empty where it is none."""
    sizes: dict[str, int]
    sha256: dict[str, str]
    checked: bool
    """Whether the checksums are known and right, and not only the sizes."""


def prepare(name: str, source: Path, out: Path, *, any_size: bool = False) -> Prepared:
    """Reads a data set in whichever layout it is, checks it, and writes train, valid and test files."""
    preset = load_preset(name)
    if not source.exists():
        raise DataError(f"{source}: there is no such file or folder. The data is had here: {preset.ask}")
    if out.resolve() == source.resolve():
        raise ConfigError(f"{out}: it is the source itself. Choose another folder to write to.")
    format = format_of(source)
    splits = LAYOUTS[format](source)
    sizes = [len(splits[split]) for split in SPLITS]
    form = preset.form_of(sizes, [format])
    if form is None and not any_size:
        raise DataError(
            f"{source}: it has {_listed(sizes)} documents, {_expected(preset, format)}. "
            "Say --any-size to take it as it is."
        )
    sums = {split: checksum(splits[split]) for split in SPLITS}
    checked = form is not None and _check(source, form, list(sums.values()))
    for split in SPLITS:
        if format == "lower":
            _copy_pair(source, split, out)
        else:
            write_whole(out / f"{split}.jsonl.gz", lambda path, split=split: _write(path, splits[split]))  # type: ignore[misc]
    prepared = Prepared(name, form.name if form else "", dict(zip(SPLITS, sizes, strict=True)), sums, checked)
    write_json(out / "dataset.json", {"name": name, "form": prepared.form, "documents": prepared.sizes, "sha256": sums})
    return prepared


def _check(source: Path, form: Form, found: Sequence[str]) -> bool:
    for split, expected, got in zip(SPLITS, form.sha256, found, strict=True):
        if expected and expected != got:
            raise DataError(f"{source}: the {split} texts are not those of '{form.name}' (checksum). Fetch them again.")
    return all(form.sha256)


def _expected(preset: Preset, format: str) -> str:
    known = [f"{_listed(form.sizes)} ({form.name})" for form in preset.forms if form.format == format and form.sizes]
    return f"not {' or '.join(known)}" if known else f"in a layout ({format}) whose sizes are not fixed"


def _listed(sizes: Sequence[int]) -> str:
    return " / ".join(f"{size:,}" for size in sizes)


def _copy_pair(source: Path, split: str, out: Path) -> None:
    """Text and entities stay the files they are; only their names are made even."""
    file = find_split(source, split)
    assert file is not None
    stem = file.name.split(".")[0]
    for path in sorted(source.glob(f"{stem}.*")):
        if {".lower", ".eg"} & set(path.suffixes):
            target = out / path.name.replace(stem, split, 1)
            write_whole(target, lambda temporary, path=path: _copied(path, temporary))  # type: ignore[misc]


def _copied(path: Path, temporary: Path) -> None:
    shutil.copyfile(path, temporary)


def _write(path: Path, documents: Sequence[Document]) -> None:
    with gzip.GzipFile(path, "wb", mtime=0) as out:
        for document in documents:
            row = {"id": document.id, "sentences": list(document.sentences)}
            out.write((json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace"))
