"""Figures that can be believed: what was run, on what, with which versions, beside the predictions themselves."""

from __future__ import annotations

import gzip
import json
import platform
import subprocess
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from unshuffle.errors import DataError
from unshuffle.evaluation.predict import Prediction
from unshuffle.metrics.summary import Spread
from unshuffle.storage.files import write_json, write_whole

PACKAGES = ("unshuffle", "torch", "numpy", "spacy", "tokenizers", "transformers", "lightning-fabric")


@dataclass(frozen=True, kw_only=True)
class Result:
    """One system, one data set, one seed."""

    system: str
    dataset: str
    seed: int
    command: str
    config: dict[str, Any]
    data_hash: str
    minutes: float
    parameters: int
    valid: dict[str, Any]
    test: dict[str, Any]
    notes: dict[str, Any]

    def write(self, folder: Path, predictions: Iterable[Prediction]) -> Path:
        """`<system>-<dataset>-<seed>.json`, and the test predictions beside it."""
        path = folder / f"{self.system}-{self.dataset}-{self.seed}.json"
        write_predictions(path.with_suffix(".orders.jsonl.gz"), predictions)
        write_json(path, asdict(self) | {"commit": commit(), "versions": versions()})
        return path


def plain(figures: Spread) -> dict[str, Any]:
    """Mean and standard deviation over shuffles, rounded as they are printed."""
    mean = {name: _rounded(value) for name, value in asdict(figures.mean).items()}
    sd = {name: _rounded(value) for name, value in asdict(figures.sd).items()} if figures.sd else None
    for counted in ("documents", "sentences"):
        if sd:
            sd.pop(counted, None)
    changed = None if figures.changed is None else _rounded(figures.changed)
    return {**mean, "sd": sd, "shuffles": figures.runs, "changed": changed}


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> None:
    """One line per document and shuffle; no text."""
    rows = ({name: value for name, value in asdict(one).items() if value is not None} for one in predictions)
    write_packed(path, rows)


def write_packed(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Compressed JSON lines."""

    def write(temporary: Path) -> None:
        # No time stamp and no name of the temporary file, so that equal rows are equal files.
        with temporary.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as out:
            for row in rows:
                out.write((json.dumps(row) + "\n").encode())

    write_whole(path, write)


def read_predictions(path: Path) -> Iterator[Prediction]:
    """The reverse of `write_predictions`; a file that is not compressed is read as well."""
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataError(f"{path}: it cannot be read ({error}). Give the predictions of an earlier run.") from None
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line)
            order = tuple(int(position) for position in row["order"])
            confidence = float(row["confidence"]) if "confidence" in row else None
            prediction = Prediction(str(row["id"]), int(row["shuffle"]), order, confidence)
        except (ValueError, KeyError, TypeError):
            raise DataError(f"{path} line {number}: expected id, shuffle and order.") from None
        if sorted(prediction.order) != list(range(len(prediction.order))):
            raise DataError(f"{path} line {number}: the order is not a permutation.")
        yield prediction


def versions() -> dict[str, str]:
    """Of everything that could change a figure."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The commit of the source tree, marked where it has local changes; empty outside a checkout."""
    try:
        here = Path(__file__).parent
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, timeout=10)
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--", str(here)], cwd=here, capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return head.stdout.strip() + ("+changes" if changed.stdout.strip() else "")


def command_line() -> str:
    """The command as it was typed, without the folder of the program."""
    module = getattr(sys.modules.get("__main__"), "__spec__", None)  # of what `python -m` runs
    program = Path(sys.argv[0]).name if module is None else f"python -m {module.name.removesuffix('.__main__')}"
    return " ".join([program, *sys.argv[1:]])


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, (tuple, list)):
        return [_rounded(entry) for entry in value]
    return value
