"""Average the weights of models that were trained from the same start.

`python -m unshuffle_research.model.average A B --out C`: two trainings on a processor's two cores, each on documents of
its own and then averaged, see twice the documents of one.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
from pathlib import Path

import torch
from torch import Tensor

from unshuffle.errors import ConfigError
from unshuffle.storage.files import read_json, read_tensors, write_json, write_tensors


def averaged(folders: list[Path]) -> dict[str, Tensor]:
    """The mean of every tensor; whole numbers are the first model's."""
    stored = [read_tensors(folder / "model.safetensors") for folder in folders]
    names = set(stored[0])
    for folder, tensors in zip(folders, stored, strict=True):
        if set(tensors) != names or any(tensors[name].shape != stored[0][name].shape for name in names):
            raise ConfigError(f"{folder}: its weights are of another system than those of {folders[0]}.")
    found = {}
    for name, first in stored[0].items():
        together = torch.stack([tensors[name].float() for tensors in stored]) if first.is_floating_point() else None
        found[name] = first if together is None else together.mean(0)
    return found


def write_average(folders: list[Path], out: Path) -> None:
    """A model folder like the first one, with the mean of all weights."""
    if out.exists():
        raise ConfigError(f"{out}: something is there already. Choose another --out.")
    tensors = averaged(folders)
    out.mkdir(parents=True)
    for name in ("tokenizer.json", "README.md"):
        shutil.copyfile(folders[0] / name, out / name)
    write_tensors(out / "model.safetensors", tensors)
    described = read_json(folders[0] / "config.json")
    digest = hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest()
    write_json(out / "config.json", described | {"sha256": described["sha256"] | {"model.safetensors": digest}})


def main() -> None:
    """Reads the arguments."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folders", nargs="+", type=Path, metavar="MODEL")
    options.add_argument("--out", type=Path, required=True)
    chosen = options.parse_args()
    write_average(chosen.folders, chosen.out)


if __name__ == "__main__":
    main()
