"""ONNX Runtime in place of a model's transformer layers, where its folder has files for them."""

from __future__ import annotations

import logging

from unshuffle.encoders.pretrained.onnx_runner import OnnxRunner, onnx_is_here
from unshuffle.encoders.pretrained.runners import Runnable
from unshuffle.storage.folder_files import FolderFiles
from unshuffle.system.network import Network

HEADER = 2**20
"""Bytes that an ONNX file may have beyond four for each weight."""

log = logging.getLogger(__name__)


def runnables(network: Network) -> dict[str, Runnable]:
    """Layers that can run accelerated, by the name of their ONNX file: the encoder's, then the refiner's own."""
    found = [runnable for encoder in network.sentence_encoders() for runnable in encoder.runnables()]
    return {f"encoder{'' if number == 1 else f'-{number}'}.onnx": one for number, one in enumerate(found, 1)}


def use_onnx(network: Network, files: FolderFiles) -> bool:
    """Runs the folder's ONNX files where it has them and they can be run; whether it does."""
    wanted = {name: runnable for name, runnable in runnables(network).items() if name in files.hashes}
    if wanted and not onnx_is_here():
        log.warning("%s: without ONNX Runtime it runs slower. For speed: pip install 'unshuffle[onnx]'.", files.folder)
        return False
    for name, runnable in wanted.items():
        file = files.folder / name
        most = 4 * sum(value.numel() for value in runnable.pieces.parameters()) + HEADER
        runnable.run_by(OnnxRunner(files.read(file, most=most), where=str(file)))
    return bool(wanted)
