"""Which runtime a model runs on: torch, or the light one that needs nothing but ONNX Runtime and numpy."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.light.systems import light_fault
from unshuffle.machine.processors import processors
from unshuffle.storage.packing import Storage
from unshuffle.system.description import read_description
from unshuffle.system.light_model import LightModel

if TYPE_CHECKING:
    from unshuffle.system.contracts import OrderingModel

RuntimeName = Literal["auto", "light", "torch"]
Precision = Literal["auto", "32", "bf16", "int8"]
"""`32`: single precision; `bf16`: products in bfloat16 (torch); `int8`: products in 8 bits (light); `auto`: `32`."""


def load(name: str, *, runtime: RuntimeName, device: str, precision: Precision, threads: int | None) -> OrderingModel:
    """The model of a folder on the runtime that is asked for, or on the lightest one that serves."""
    described = read_description(name)
    fault = light_fault(described.system)
    if device != "cpu" or precision == "bf16":
        fault = fault or "another device or precision than the light runtime's was asked for"
    if runtime == "light" and fault:
        raise ConfigError(f"{name}: {fault}, so the light runtime cannot run it. Say runtime torch.")
    if runtime == "light" or (runtime == "auto" and not fault):
        return LightModel.load(described, int8=precision == "int8", threads=threads or processors())
    if find_spec("torch") is None:
        raise MissingExtra(f"{name}: this model", "train")
    if precision == "int8":
        raise ConfigError(f"{name}: 8 bits are the light runtime's ({fault or 'torch was asked for'}). Say 32 or bf16.")
    from unshuffle.machine.devices import usable_device
    from unshuffle.system.folder import load_model

    return load_model(name, device=usable_device(device), precision="bf16" if precision == "bf16" else "32")


def export(name: str, out: Path, storage: Storage = "int8") -> Path:
    """Writes the small form of a trained model, which runs without torch, and reads it back; needs torch itself."""
    fault = light_fault(read_description(name).system)
    if fault:
        raise ConfigError(f"{name}: {fault}, so only torch can run it. Export a model that can do without.")
    if find_spec("torch") is None:
        raise MissingExtra("export", "train")
    from unshuffle.system.folder import load_model, save_model

    save_model(load_model(name), out, storage=storage)
    LightModel.load(read_description(str(out)), int8=False, threads=1)
    return out
