"""Quicker ways to run a model's BERTs, put in their place: ONNX Runtime, or torch.compile."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path

from unshuffle.encoders.pretrained.bert import Bert
from unshuffle.encoders.pretrained.onnx_runner import OnnxRunner, onnx_is_here
from unshuffle.encoders.pretrained.pieces import Pieces
from unshuffle.encoders.pretrained.runners import Runner, Stretch
from unshuffle.encoders.sentence.compiled import Compiled
from unshuffle.encoders.sentence.transformer import Transformer
from unshuffle.encoders.sentence.transformer_joined import TransformerJoined
from unshuffle.encoders.sentence.transformer_pair import TransformerPair
from unshuffle.encoders.sentence.transformer_set import TransformerSet
from unshuffle.errors import ConfigError
from unshuffle.storage.files import read_json
from unshuffle.system.network import Network

HEADER = 2**20
"""Bytes that an ONNX file may have beyond four for each weight."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Runnable:
    """Layers that a runner can stand in for, and whose they are."""

    pieces: Pieces
    stretch: Stretch

    def run_by(self, runner: Runner) -> None:
        """From now on, and until the weights change."""
        self.pieces.runners[self.stretch.first, self.stretch.last] = runner


def runnables(network: Network) -> dict[str, Runnable]:
    """All such layers of BERTs, by the name of their ONNX file: first the encoder's, then the refiner's own."""
    found, kinds = [], (Transformer, TransformerJoined, TransformerPair)
    for module in network.modules():
        if isinstance(module, TransformerSet):
            found += [Runnable(module.pieces, stretch) for stretch in module.stretches()]
        elif isinstance(module, kinds) and isinstance(module.pieces.model, Bert):
            found.append(Runnable(module.pieces, Stretch.whole(module.pieces.model)))
    return {f"encoder{'' if number == 1 else f'-{number}'}.onnx": one for number, one in enumerate(found, 1)}


def use_onnx(network: Network, folder: Path) -> bool:
    """Runs the folder's ONNX files where it has them and they can be run; whether it does."""
    described = read_json(folder / "config.json", most=HEADER).get("sha256", {})
    wanted = {name: runnable for name, runnable in runnables(network).items() if name in described}
    if wanted and not onnx_is_here():
        log.warning("%s: without ONNX Runtime it runs slower. For speed: pip install 'unshuffle[onnx]'.", folder)
        return False
    for name, runnable in wanted.items():
        content = _read(folder / name, most=4 * sum(value.numel() for value in runnable.pieces.parameters()) + HEADER)
        if hashlib.sha256(content).hexdigest() != described[name]:
            raise ConfigError(f"{folder / name}: not as it was written with config.json. Take the folder anew.")
        runnable.run_by(OnnxRunner(content, where=str(folder / name)))
    return bool(wanted)


def use_compiler(network: Network) -> None:
    """Compiles every BERT of a network; takes as long as some hundred documents, once a process."""
    found = runnables(network)
    if not found:
        raise ConfigError("compile: this model has no encoder that can be compiled. Leave compile out.")
    for runnable in found.values():
        runnable.run_by(Compiled(runnable.stretch))


def _read(file: Path, most: int) -> bytes:
    try:
        if file.stat().st_size > most:
            raise ConfigError(f"{file}: it is larger than {most} bytes. That is no encoder of this model.")
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: it cannot be read ({error.strerror}). Take the whole folder.") from None
