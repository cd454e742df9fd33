"""Where pretrained transformers come from: a folder, an installed package, or a hub where the user names it."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from pathlib import Path

from unshuffle.errors import ConfigError
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
