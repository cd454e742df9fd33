"""Vectors of a frozen encoder kept on disk by content, so that a corpus is run through it once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from unshuffle.storage.cache import ContentCache


def fingerprint(model: nn.Module, description: str) -> str:
    """A name for a model's exact weights and for what they are the weights of."""
    digest = hashlib.blake2b(description.encode(), digest_size=16)
    for name, value in model.state_dict().items():
        digest.update(name.encode())
        digest.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


class VectorCache:
    """Half-precision vectors by key, for one model's exact weights."""

    def __init__(self, folder: str | os.PathLike[str], model: nn.Module, description: str) -> None:
        self._cache = ContentCache(folder, "vectors", fingerprint(model, description))

    def key(self, *parts: Tensor) -> bytes:
        """The key of what is computed from these whole numbers."""
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            content = part.cpu().numpy().astype("<i8").tobytes()
            digest.update(len(content).to_bytes(8, "little") + content)
        return digest.digest()

    def read(self, keys: Sequence[bytes], width: int) -> dict[bytes, Tensor]:
        """The vectors that are known."""
        return {
            key: torch.from_numpy(np.frombuffer(content, "<f2").astype(np.float32))
            for key, content in self._cache.read(keys).items()
            if len(content) == 2 * width  # a damaged row is computed again
        }

    def write(self, vectors: dict[bytes, Tensor]) -> None:
        """Keeps vectors for later."""
        self._cache.write({key: vector.cpu().numpy().astype("<f2").tobytes() for key, vector in vectors.items()})
