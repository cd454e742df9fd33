"""A judge by what the user calls it: the address of an endpoint, or a folder or file of weights."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.judge.contracts import Judge, Trust

TRUST_FILE = "trust.json"


def open_judge(
    place: str, *, model: str = "", cache: str | os.PathLike[str] | None = None, trust: Trust | None = None
) -> Judge:
    """`http://localhost:8080/v1`, a trained judge's folder, or a causal language model (folder or .gguf file)."""
    if place.startswith(("http://", "https://")):
        from unshuffle.judge.chat import ChatJudge

        if not model:
            raise ConfigError(f"judge {place}: which model? Give its name, on the command line with --judge-model.")
        return ChatJudge(place, model, cache=cache, trust=trust)
    path = Path(place)
    if not path.exists():
        raise ConfigError(
            f"judge {place}: there is no such folder or file. An endpoint begins with http:// or https://."
        )
    if find_spec("torch") is None:
        raise MissingExtra("A local judge", "train")
    raise NotImplementedError
