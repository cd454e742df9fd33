"""What a model folder says of itself, and the runtime that it runs on: torch, or the light one without it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.light.systems import light_fault
from unshuffle.machine import processors
from unshuffle.storage.files import FolderFiles, Storage, read_json
from unshuffle.system.calibration import Calibration, FewerBits

if TYPE_CHECKING:
    from unshuffle.system.contracts import OrderingModel

FORMAT = 1
WEIGHTS = "model.safetensors"
LONGEST_NAME = 200
"""Letters of a model's name, which is shown to people and sent to clients."""
LONGEST_CARD = 2**20
"""Bytes of a model's README that are read."""
MODELS = Path(__file__).parent.parent / "data" / "models"
"""Models that are part of the package, by name."""
RuntimeName = Literal["auto", "light", "torch"]
Precision = Literal["auto", "32", "bf16", "int8"]
"""`32`: single precision; `bf16`: products in bfloat16 (torch); `int8`: products in 8 bits (light).

`auto`: fewer bits where the model's calibration says that they lose nothing and the processor has instructions for
them, else `32`.
"""


@dataclass(frozen=True)
class FolderDescription:
    """The content of config.json, its tables checked to be tables."""

    name: str
    system: dict[str, Any]
    parser: dict[str, str]
    files: FolderFiles


def find_folder(name: str) -> Path:
    """The folder of a model: one of the package's by name, or the user's by path."""
    if "/" not in name and "\\" not in name and (MODELS / name / "config.json").is_file():
        return MODELS / name
    folder = Path(name)
    if not folder.is_dir():
        shipped = sorted(path.name for path in MODELS.glob("*") if path.is_dir()) if MODELS.is_dir() else []
        raise ConfigError(f"{name}: there is no such model folder. Shipped models: {', '.join(shipped) or 'none'}.")
    return folder


def read_description(name: str) -> FolderDescription:
    """What config.json says; the other files of the folder are checked against its hashes when they are read."""
    folder = find_folder(name)
    files = FolderFiles(folder)
    described = read_json(folder / "config.json", most=2**20, read=files.read)
    if not isinstance(described, dict) or described.get("format") != FORMAT or "system" not in described:
        raise ConfigError(f"{folder}/config.json: not a model of this program. Give a folder that it has written.")
    for part in ("system", "parser", "sha256"):
        if not isinstance(described.get(part, {}), dict):
            raise ConfigError(f"{folder}/config.json: '{part}' is not a table. Download the model folder again.")
    tables = [table for table in described["system"].values() if isinstance(table, dict)]
    if any(table.get("source") for table in tables):  # it may be a module to import or a hub to ask
        raise ConfigError(f"{folder}/config.json: 'source' names weights elsewhere. Give a folder with its own.")
    called = described.get("name", folder.name)
    if not isinstance(called, str) or not called.isprintable() or len(called) > LONGEST_NAME:
        raise ConfigError(f"{folder}/config.json: 'name' is no name. Give one of at most {LONGEST_NAME} letters.")
    files.hashes = {str(file): str(digest) for file, digest in described.get("sha256", {}).items()}
    parser = {str(key): str(value) for key, value in described.get("parser", {}).items()}
    return FolderDescription(called, described["system"], parser, files)


def read_extras(files: FolderFiles) -> tuple[dict[str, Any] | None, str]:
    """The calibration and the model card, where the folder has them."""
    calibration, card = None, ""
    if files.has("calibration.json"):
        calibration = read_json(files.folder / "calibration.json", read=files.read)
    if files.has("README.md"):
        card = files.read(files.folder / "README.md", most=LONGEST_CARD).decode("utf-8", errors="replace")
    return calibration, card


def loses_nothing(bits: FewerBits, calibration: dict[str, Any] | None) -> bool:
    """Whether a model was measured to order as well in fewer bits."""
    return calibration is not None and bits in Calibration.read(calibration).harmless


def load(name: str, *, runtime: RuntimeName, device: str, precision: Precision, threads: int | None) -> OrderingModel:
    """The model of a folder on the runtime that is asked for, or on the lightest one that serves."""
    described = read_description(name)
    fault = light_fault(described.system)
    if device != "cpu" or precision == "bf16":
        fault = fault or "another device or precision than the light runtime's was asked for"
    if runtime == "light" and fault:
        raise ConfigError(f"{name}: {fault}, so the light runtime cannot run it. Say runtime torch.")
    if runtime == "light" or (runtime == "auto" and not fault):
        from unshuffle.system.light_model import LightModel

        return LightModel.load(described, precision=precision, threads=threads or processors())
    if find_spec("torch") is None:
        raise MissingExtra(f"{name}: this model", "train")
    if precision == "int8":
        raise ConfigError(f"{name}: 8 bits are the light runtime's ({fault or 'torch was asked for'}). Say 32 or bf16.")
    from unshuffle.machine import usable_device
    from unshuffle.system.folder import load_model

    return load_model(name, device=usable_device(device), precision=precision)


def export(name: str, out: Path, storage: Storage = "int8") -> Path:
    """Writes the small form of a trained model, which runs without torch, and reads it back; needs torch itself."""
    fault = light_fault(read_description(name).system)
    if fault:
        raise ConfigError(f"{name}: {fault}, so only torch can run it. Export a model that can do without.")
    if find_spec("torch") is None:
        raise MissingExtra("export", "train")
    from unshuffle.system.folder import load_model, save_model
    from unshuffle.system.light_model import LightModel

    save_model(load_model(name), out, storage=storage)
    LightModel.load(read_description(str(out)), precision="32", threads=1)
    return out
