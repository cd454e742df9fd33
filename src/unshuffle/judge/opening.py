"""A judge by what the user calls it: the address of an endpoint, or a folder or file of weights."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.judge.contracts import Judge, Trust
from unshuffle.storage.files import read_json


def open_judge(
    address: str, *, model: str = "", cache: str | os.PathLike[str] | None = None, trust: Trust | Path | None = None
) -> Judge:
    """`http://localhost:8080/v1`, a trained judge's folder, or a causal language model (folder or .gguf file).

    `trust`: how far it is trusted, or the file in which `unshuffle trust-judge` has written that.
    """
    if isinstance(trust, Path):
        trust = Trust.read(read_json(trust, most=2**16), str(trust))
    if address.startswith(("http://", "https://")):
        from unshuffle.judge.chat import ChatJudge

        if not model:
            raise ConfigError(f"judge {address}: which model? Give its name, on the command line with --judge-model.")
        return ChatJudge(address, model, cache=cache, trust=trust)
    path = Path(address)
    if not path.exists():
        raise ConfigError(
            f"judge {address}: there is no such folder or file. An endpoint begins with http:// or https://."
        )
    if find_spec("torch") is None:
        raise MissingExtra("A local judge", "train")
    from unshuffle.judge.cross_encoder import CONFIG, CrossEncoderJudge, is_cross_encoder
    from unshuffle.judge.language_model import LanguageModelJudge

    if path.is_dir() and is_cross_encoder(read_json(path / CONFIG, most=2**20)):
        return CrossEncoderJudge.load(path, trust)
    return LanguageModelJudge.load(path, trust=trust)
