"""A checkpoint of the transformers library: what kind of network it is, and the network itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.parts.architecture import check_kind, checked_architecture, known_options
from unshuffle.storage.files import read_json
from unshuffle.text.tokens import Tokenizer


def source_file(source: str, file: str, slot: str = "sentence_encoder") -> Path:
    """A file of a source; only a hub's is fetched."""
    name, local = source_name(source, slot)
    if not local:
        return Path(import_module("huggingface_hub").hf_hub_download(name, file))
    path = Path(name) / file
    if not path.is_file():
        raise ConfigError(f"{path}: it is missing. Save the folder again with its fast tokenizer and safetensors.")
    return path


def pieces_tokenizer(source: str, longest: int = 512) -> Tokenizer:
    """The word pieces of a source; it puts the marks around a sentence itself: [CLS] words [SEP]."""
    return Tokenizer.read(source_file(source, "tokenizer.json"), longest)


def source_name(source: str, slot: str = "sentence_encoder") -> tuple[str, bool]:
    """What transformers calls the source, and whether it is here already; `slot` is where errors say it stands."""
    scheme, _, name = source.partition(":")
    if scheme == "hub" and name:
        return name, False
    folder = Path(source)
    if scheme == "package" and name:
        try:
            folder = Path(str(files(name) / "model"))
        except (ModuleNotFoundError, TypeError, ValueError):
            raise ConfigError(f"{slot}.source: there is no package '{name}'. Install it with pip.") from None
    if not folder.is_dir():
        raise ConfigError(f"{slot}.source: there is no folder '{folder}'. Give one, 'package:NAME' or 'hub:NAME'.")
    return str(folder), True


EAGER = frozenset({"deberta", "deberta-v2", "mpnet"})
"""Kinds whose attention the library has only written out; all others use PyTorch's own."""


def architecture_of(source: str, *, kinds: AbstractSet[str], slot: str) -> dict[str, Any]:
    """What a source's configuration says of the network, without where it has been."""
    if not source:
        raise ConfigError(f"{slot}.source: it is empty. Give a folder, 'package:NAME' or 'hub:NAME'.")
    described = read_json(source_file(source, "config.json", slot), most=2**20)
    kind = described.get("model_type") if isinstance(described, dict) else None
    check_kind(kind, kinds, f"{slot}.source: '{source}'")
    return known_options(described)


def built(
    source: str,
    architecture: Mapping[str, Any],
    *,
    kinds: AbstractSet[str],
    slot: str,
    unused: Mapping[str, int] | None = None,
) -> Any:
    """The network of the transformers library, with the source's weights where there is one.

    `unused`: sizes of parts that the caller drops; without a source they are built no larger than this.
    """
    try:
        transformers = import_module("transformers")
    except ModuleNotFoundError:
        raise MissingExtra(f"A pretrained {slot.replace('_', ' ')}", "bert") from None
    options = checked_architecture(architecture, kinds=kinds, slot=slot)
    kind = options.pop("model_type")
    if not source:
        options |= unused or {}
    # Named here and never by the description: the library would fetch an attention of an unknown name from a hub.
    attention = "eager" if kind in EAGER else "sdpa"
    described = transformers.AutoConfig.for_model(kind, **options)
    if not source:
        return transformers.AutoModel.from_config(described, attn_implementation=attention, trust_remote_code=False)
    name, local = source_name(source, slot)
    try:
        with without_bars(transformers):
            return transformers.AutoModel.from_pretrained(
                name,
                config=described,
                attn_implementation=attention,
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=local,
            )
    except (OSError, ValueError, RuntimeError) as error:
        raise no_fit(source, str(error).strip().partition("\n")[0].rstrip("."), slot) from None


@contextmanager
def without_bars(transformers: Any) -> Iterator[None]:
    """Leaves out the library's own progress bars, which tell users of its insides."""
    logging = transformers.utils.logging
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def no_fit(source: str, reason: str, slot: str) -> ConfigError:
    """What is said where a source's weights are not those of its configuration."""
    return ConfigError(
        f"{slot}.source: '{source}' has no weights that fit ({reason}). "
        "Give a folder with config.json and model.safetensors."
    )
