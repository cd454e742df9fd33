"""Quicker ways to run a model's BERTs, put in their place: ONNX Runtime, or torch.compile."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

from unshuffle.encoders.sentence.bert import Bert
from unshuffle.encoders.sentence.compiled import Compiled
from unshuffle.encoders.sentence.onnx_runner import OnnxRunner, onnx_is_here
from unshuffle.encoders.sentence.pieces import Pieces
from unshuffle.encoders.sentence.transformer import Transformer
from unshuffle.encoders.sentence.transformer_joined import TransformerJoined
from unshuffle.encoders.sentence.transformer_pair import TransformerPair
from unshuffle.errors import ConfigError
from unshuffle.files import read_json
from unshuffle.system.network import Network

HEADER = 2**20
"""Bytes that an ONNX file may have beyond four for each weight."""

log = logging.getLogger(__name__)


def berts(network: Network) -> dict[str, Pieces]:
    """Each BERT that reads whole sequences, by the name of its ONNX file: first the encoder, then the refiner's own."""
    kinds = (Transformer, TransformerJoined, TransformerPair)  # `transformer_set` runs the layers in two stretches
    found = [module.pieces for module in network.modules() if isinstance(module, kinds)]
    known = [pieces for pieces in found if isinstance(pieces.model, Bert)]
    return {f"encoder{'' if number == 1 else f'-{number}'}.onnx": one for number, one in enumerate(known, 1)}


def use_onnx(network: Network, folder: Path) -> bool:
    """Runs the folder's ONNX files where it has them and they can be run; whether it does."""
    described = read_json(folder / "config.json", most=HEADER).get("sha256", {})
    wanted = {name: pieces for name, pieces in berts(network).items() if name in described}
    if wanted and not onnx_is_here():
        log.warning("%s: without ONNX Runtime it runs slower. For speed: pip install 'unshuffle[onnx]'.", folder)
        return False
    for name, pieces in wanted.items():
        content = _read(folder / name, most=4 * sum(value.numel() for value in pieces.parameters()) + HEADER)
        if hashlib.sha256(content).hexdigest() != described[name]:
            raise ConfigError(f"{folder / name}: not as it was written with config.json. Take the folder anew.")
        pieces.runner = OnnxRunner(content, where=str(folder / name))
    return bool(wanted)


def use_compiler(network: Network) -> None:
    """Compiles every BERT of a network; takes as long as some hundred documents, once a process."""
    found = berts(network)
    if not found:
        raise ConfigError("compile: this model has no encoder that can be compiled. Leave compile out.")
    for pieces in found.values():
        assert isinstance(pieces.model, Bert)
        pieces.runner = Compiled(pieces.model)


def _read(file: Path, most: int) -> bytes:
    try:
        if file.stat().st_size > most:
            raise ConfigError(f"{file}: it is larger than {most} bytes. That is no encoder of this model.")
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: it cannot be read ({error.strerror}). Take the whole folder.") from None
