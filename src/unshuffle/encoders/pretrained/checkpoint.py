"""A checkpoint of the transformers library: what kind of network it is, and the network itself."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from importlib import import_module
from typing import Any

import torch

from unshuffle.encoders.pretrained.sources import source_file, source_name
from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.storage.files import read_json

NOT_ARCHITECTURE = ("_name_or_path", "architectures", "auto_map", "dtype", "torch_dtype", "transformers_version")
"""What a configuration says of where it has been and not of what it is; `auto_map` would name code to be run."""


def architecture_of(source: str, *, kinds: AbstractSet[str], slot: str) -> dict[str, Any]:
    """What a source's configuration says of the network, without where it has been."""
    if not source:
        raise ConfigError(f"{slot}.source: it is empty. Give a folder, 'package:NAME' or 'hub:NAME'.")
    described = read_json(source_file(source, "config.json", slot), most=2**20)
    kind = described.get("model_type") if isinstance(described, dict) else None
    _check_kind(kind, kinds, f"{slot}.source: '{source}'")
    return {name: value for name, value in described.items() if name not in NOT_ARCHITECTURE}


def built(source: str, architecture: dict[str, Any], *, kinds: AbstractSet[str], slot: str) -> Any:
    """The network of the transformers library, with the source's weights where there is one."""
    try:
        transformers = import_module("transformers")
    except ModuleNotFoundError:
        raise MissingExtra(f"A pretrained {slot.replace('_', ' ')}", "bert") from None
    options = {name: value for name, value in architecture.items() if name not in NOT_ARCHITECTURE}
    kind = options.pop("model_type", "")
    _check_kind(kind, kinds, f"{slot}.architecture")
    described = transformers.AutoConfig.for_model(kind, **options)
    if not source:
        return transformers.AutoModel.from_config(described, trust_remote_code=False)
    name, local = source_name(source, slot)
    try:
        return transformers.AutoModel.from_pretrained(
            name,
            config=described,
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=local,
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise no_fit(source, str(error).strip().partition("\n")[0].rstrip("."), slot) from None


def no_fit(source: str, reason: str, slot: str) -> ConfigError:
    """What is said where a source's weights are not those of its configuration."""
    return ConfigError(
        f"{slot}.source: '{source}' has no weights that fit ({reason}). "
        "Give a folder with config.json and model.safetensors."
    )


def _check_kind(kind: object, kinds: AbstractSet[str], where: str) -> None:
    if kind not in kinds:
        raise ConfigError(f"{where}: kind '{kind}' cannot be used. Known: {', '.join(sorted(kinds))}.")
