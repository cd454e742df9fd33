"""A model folder with its BERTs in 8 bits, written only where orders stay as good as they were."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unshuffle.encoders.pretrained.onnx_runner import onnx_is_here
from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.evaluation.results import command_line, commit, versions
from unshuffle.export.bert import bert_graph
from unshuffle.export.comparison import Measured, compared
from unshuffle.storage.files import read_json, write_json, write_whole
from unshuffle.system.acceleration import runnables
from unshuffle.system.folder import find_folder
from unshuffle.system.network import Network
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

COPIED = ("calibration.json", "README.md", "LICENSE*", "NOTICE*", "CREDITS*", "topics/*")
"""What goes along with the files that config.json names."""


@dataclass(frozen=True)
class Accelerated:
    """A folder that passed, and what was measured."""

    folder: Path
    documents: int
    seed: int
    threads: int
    parsing: float
    """Seconds that the parser took, of which no encoder saves anything."""
    measured: dict[str, Measured]
    """`plain` and `int8`."""
    sizes: dict[str, int]
    """Bytes: the folder as it was and as it is, and the ONNX files in it."""

    def times(self, name: str) -> float:
        """How many times the plain model's documents one of them orders; parsing left out."""
        return self.measured["plain"].seconds / self.measured[name].seconds

    def times_with_parsing(self, name: str) -> float:
        """The same, parsing included."""
        return (self.measured["plain"].seconds + self.parsing) / (self.measured[name].seconds + self.parsing)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that says how it came about."""
        used = versions() | {package: version(package) for package in ("onnx", "onnxruntime")}
        told = {name: value for name, value in asdict(self).items() if name not in ("folder", "measured")}
        return {
            "benchmark": "accelerate",
            **told,
            "tau": {name: found.tau for name, found in self.measured.items()},
            "tau_error": {name: found.error for name, found in self.measured.items()},
            "same_orders": {name: found.same for name, found in self.measured.items()},
            "seconds": {name: found.seconds for name, found in self.measured.items()},
            "ratio": {name: self.times(name) for name in self.measured},
            "ratio_with_parsing": {name: self.times_with_parsing(name) for name in self.measured},
            "command": command_line(),
            "commit": commit(),
            "versions": used,
        }


def accelerate(
    source: str,
    out: Path,
    documents: Sequence[Document],
    *,
    most_lost: float = 0.3,
    seed: int = 1,
    parser: str | None = None,
) -> Accelerated:
    """Exports, orders the documents with both, and leaves a folder behind only where tau has not fallen too far."""
    if not onnx_is_here():
        raise MissingExtra("Acceleration", "onnx")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out}: something is there already. Choose another --out.")
    folder = find_folder(source)
    plain = Orderer.from_pretrained(source, parser=parser, accelerated=False)
    if not runnables(plain.model.network):
        raise ConfigError(f"{source}: it has no encoder that can be accelerated; a BERT can.")
    out.parent.mkdir(parents=True, exist_ok=True)
    room = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}-"))
    try:
        written = write_folder(plain.model.network, folder, room)
        models = {"plain": plain, "int8": Orderer.from_pretrained(room, parser=parser)}
        comparison = compared(models, documents, seed=seed)
        before, after = (comparison.measured[name].tau for name in ("plain", "int8"))
        if before - after > most_lost:
            raise ConfigError(
                f"{out}: tau would fall from {before:.2f} to {after:.2f}, more than {most_lost:g}. "
                "Nothing was written; keep the model as it is, or allow more by --most-lost."
            )
        sizes = {"before": _size(folder), "onnx": written, "after": _size(room)}
        found = Accelerated(
            out, len(documents), seed, comparison.threads, comparison.parsing, comparison.measured, sizes
        )
        write_json(room / "acceleration.json", found.to_json())
        room.chmod(0o755)
        room.replace(out)
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(room)
    return found


def write_folder(network: Network, source: Path, out: Path) -> int:
    """Copies a model folder and adds the ONNX files; how many bytes those have."""
    described = read_json(source / "config.json")
    hashes, total = dict(described.get("sha256", {})), 0
    beside = [file for pattern in COPIED for file in source.glob(pattern)]
    for file in {*beside, *(source / name for name in hashes)}:
        target = out / file.relative_to(source)
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(file, target)
    for name, runnable in runnables(network).items():
        content = bert_graph(runnable.layers, int8=True)
        write_whole(out / name, partial(_put, content))
        hashes[name] = hashlib.sha256(content).hexdigest()
        total += len(content)
    write_json(out / "config.json", described | {"sha256": hashes})
    return total


def _put(content: bytes, file: Path) -> None:
    file.write_bytes(content)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
