"""A stage's state on disk: tensors as safetensors, everything else as JSON, the newest whole state always readable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unshuffle.errors import ConfigError
from unshuffle.storage.files import read_json, read_tensors, write_json, write_tensors

FILE = "settings.json"
SHOWN = 5
"""How many differences are named."""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a stage has come."""

    epoch: int = 0
    step: int = 0
    loss: float = 0.0
    """Sum over the epoch so far."""
    scores: tuple[float, ...] = ()
    """Validation score after each finished epoch."""
    minutes: float = 0.0
    finished: bool = False
    cut: bool = False
    """Whether the time limit ended it, and not its patience or its epochs."""

    @property
    def best_epoch(self) -> int:
        """The first epoch with the highest score; -1 before any."""
        return self.scores.index(max(self.scores)) if self.scores else -1


@dataclass
class Checkpoint:
    """Writes a new file of tensors, then the small file that names it, then removes the old one."""

    folder: Path
    fingerprint: str
    """Of everything that decides the result; another run's state is refused."""

    def save(
        self, position: Position, module: nn.Module, optimizer: torch.optim.Optimizer, best: Mapping[str, Tensor]
    ) -> None:
        """The old state stays valid until the new one is whole."""
        name = f"state-{position.epoch:04d}-{position.step:06d}.safetensors"
        tensors = {f"model.{key}": value for key, value in trained_state(module).items()}
        tensors |= {f"best.{key}": value for key, value in best.items()}
        tensors |= _optimizer_tensors(optimizer)
        write_tensors(self.folder / name, tensors)
        write_json(self.folder / "progress.json", {"state": name, "fingerprint": self.fingerprint, **asdict(position)})
        for old in self.folder.glob("state-*.safetensors"):
            if old.name != name:
                old.unlink(missing_ok=True)

    def load(self, module: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[Position, dict[str, Tensor]] | None:
        """The newest whole state put back, or None where there is none."""
        if not (self.folder / "progress.json").exists():
            return None
        saved: dict[str, Any] = read_json(self.folder / "progress.json")
        if saved.pop("fingerprint", "") != self.fingerprint:
            raise ConfigError(f"{self.folder}: it belongs to a run with other settings or data. Choose another --out.")
        tensors = read_tensors(self.folder / Path(str(saved.pop("state"))).name)
        load_trained(module, _under(tensors, "model."))
        _restore_optimizer(optimizer, _under(tensors, "optimizer."))
        saved["scores"] = tuple(saved["scores"])
        return Position(**saved), _under(tensors, "best.")


def trained_state(module: nn.Module) -> dict[str, Tensor]:
    """Parameters that are trained, and all buffers, by name."""
    state: dict[str, Tensor] = {name: value for name, value in module.named_parameters() if value.requires_grad}
    state |= dict(module.named_buffers())
    return {name: value.detach() for name, value in state.items()}


def load_trained(module: nn.Module, state: Mapping[str, Tensor]) -> None:
    """The reverse of `trained_state`."""
    targets = trained_state(module)
    if targets.keys() != state.keys():
        odd = sorted(targets.keys() ^ state.keys())[0]
        raise ConfigError(f"checkpoint: parameter '{odd}' is on one side only. It belongs to another system.")
    with torch.no_grad():
        for name, value in state.items():
            targets[name].copy_(value)


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    state = optimizer.state_dict()["state"]
    return {
        f"optimizer.{number}.{name}": value if isinstance(value, Tensor) else torch.tensor(float(value))
        for number, entries in state.items()
        for name, value in entries.items()
    }


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    full = optimizer.state_dict()
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = value
    full["state"] = state
    optimizer.load_state_dict(full)


def _under(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def check_settings(folder: Path, settings: Mapping[str, Any], *, write: bool) -> None:
    """Refuses to go on with other settings than a folder's training was begun with, and says which differ."""
    now = json.loads(json.dumps(settings, default=str))
    if not (folder / FILE).exists():
        if write:
            write_json(folder / FILE, now)
        return
    found = list(_differences(read_json(folder / FILE), now))
    if found:
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise ConfigError(
            f"{folder}: the training there was begun with other settings: {', '.join(found[:SHOWN])}{more}. "
            "Give the same ones, or choose another --out."
        )


def _differences(before: Any, now: Any, name: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            yield from _differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif before != now:
        yield f"{name} ({_short(before)} before, {_short(now)} now)"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."
