"""Pretrained transformers: where they come from, and what a model folder must keep so as not to need them again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import torch
from annotated_types import Ge, Lt
from torch import nn

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.text.tokens import Tokenizer

MODEL_TYPES = frozenset(
    {"bert", "roberta", "xlm-roberta", "camembert", "distilbert", "electra", "mpnet", "deberta", "deberta-v2", "bart"}
)
"""Kinds of transformer that are known to read `[CLS] words [SEP]`."""
DROPOUTS = {"hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout", "activation_dropout"}
"""What the kinds call their dropouts."""
NOT_ARCHITECTURE = ("_name_or_path", "architectures", "auto_map", "dtype", "torch_dtype", "transformers_version")
"""What a configuration says of where it has been and not of what it is; `auto_map` would name code to be run."""


@dataclass(frozen=True, kw_only=True)
class PretrainedConfig:
    """Which transformer to use and how much of it to train."""

    source: str = ""
    """Where weights come from: a folder, `package:NAME`, or `hub:NAME`; empty for those the model folder brings."""
    architecture: dict[str, Any] = field(default_factory=dict)
    """The transformer's own configuration; filled from the source, so that a model folder needs no source."""
    frozen_layers: Annotated[int, Ge(-1)] = 0
    """So many of the lowest layers are not trained; -1 for all of them."""
    freeze_embeddings: bool = False
    """Whether what lies below the layers is left untrained too."""
    inner_dropout: Annotated[float, Ge(0), Lt(1)] | None = None
    """Dropout inside the transformer; None leaves the architecture's. 0 saves a fifth of the training time."""
    chunk_tokens: Annotated[int, Ge(1)] = 4096
    """Word pieces that are run at once, padding included; bounds the memory of inference."""


Config = TypeVar("Config", bound=PretrainedConfig)


def resolved(config: Config) -> Config:
    """The same with its architecture filled in; weights still come from the source."""
    return config if config.architecture else replace(config, architecture=_architecture(config))


def detached(config: Config) -> Config:
    """The same without its source, as a model folder that holds the weights should keep it."""
    return replace(resolved(config), source="")


def load(config: PretrainedConfig) -> Any:
    """The transformer, with the source's weights where there is one; of encoder-decoders the encoder."""
    transformers = _transformers()
    architecture = _read(resolved(config).architecture)
    if config.source:
        name, local = _name(config.source)
        try:
            with _without_progress(transformers.utils.logging):
                model = transformers.AutoModel.from_pretrained(
                    name,
                    config=architecture,
                    dtype=torch.float32,
                    use_safetensors=True,
                    trust_remote_code=False,
                    local_files_only=local,
                )
        except (OSError, ValueError, RuntimeError) as error:
            raise ConfigError(
                f"sentence_encoder.source: '{config.source}' has no weights that fit ({_line(error)}). "
                "Give a folder with config.json and model.safetensors."
            ) from None
    else:
        model = transformers.AutoModel.from_config(architecture, trust_remote_code=False)
    if architecture.is_encoder_decoder:
        model = model.get_encoder()
    if hasattr(model, "pooler"):
        model.pooler = None  # nothing reads it, so it would only wait in vain for gradients
    return model


def freeze(model: nn.Module, config: PretrainedConfig) -> bool:
    """Leaves untrained what the config says; whether that is everything."""
    layers = layers_of(model)
    if config.frozen_layers > len(layers):
        raise ConfigError(f"sentence_encoder.frozen_layers: there are only {len(layers)}. Give -1 for all of them.")
    count = len(layers) if config.frozen_layers == -1 else config.frozen_layers
    for layer in layers[:count]:
        layer.requires_grad_(False)
    if config.freeze_embeddings:
        within = {id(parameter) for parameter in layers.parameters()}
        for parameter in model.parameters():
            if id(parameter) not in within:
                parameter.requires_grad_(False)
    return not any(parameter.requires_grad for parameter in model.parameters())


def layers_of(model: nn.Module) -> nn.ModuleList:
    """The stack of layers, whatever it is called."""
    count = cast(Any, model.config).num_hidden_layers
    return next(part for part in model.modules() if isinstance(part, nn.ModuleList) and len(part) == count)


def tokenizer_file(source: str) -> Path:
    """The `tokenizer.json` of a source."""
    name, local = _name(source)
    if not local:
        return Path(import_module("huggingface_hub").hf_hub_download(name, "tokenizer.json"))
    path = Path(name) / "tokenizer.json"
    if not path.is_file():
        raise ConfigError(f"{path}: it is missing. Save the folder again with its fast tokenizer.")
    return path


def pieces_tokenizer(source: str, longest: int = 512) -> Tokenizer:
    """The word pieces of a source; it puts the marks around a sentence itself: [CLS] words [SEP]."""
    return Tokenizer.read(tokenizer_file(source), longest)


def _architecture(config: PretrainedConfig) -> dict[str, Any]:
    if not config.source:
        raise ConfigError("sentence_encoder.source: it is empty. Give a folder, 'package:NAME' or 'hub:NAME'.")
    transformers = _transformers()
    name, local = _name(config.source)
    try:
        found = transformers.AutoConfig.from_pretrained(name, local_files_only=local, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"sentence_encoder.source: '{config.source}' has no readable config.json ({_line(error)}). "
            "Give a folder saved by transformers."
        ) from None
    if config.inner_dropout is not None:
        for name in DROPOUTS & set(found.to_dict()):
            setattr(found, name, config.inner_dropout)
    described: dict[str, Any] = json.loads(json.dumps(found.to_diff_dict()))
    described["model_type"] = found.model_type
    return {name: value for name, value in described.items() if name not in NOT_ARCHITECTURE}


def _read(architecture: dict[str, Any]) -> Any:
    """The transformer's configuration as an object; only kinds on the list are built."""
    options = {name: value for name, value in architecture.items() if name not in NOT_ARCHITECTURE}
    kind = options.pop("model_type", "")
    if kind not in MODEL_TYPES:
        raise ConfigError(
            f"sentence_encoder.architecture: kind '{kind}' cannot be used. Known: {', '.join(sorted(MODEL_TYPES))}."
        )
    return _transformers().AutoConfig.for_model(kind, **options)


def _name(source: str) -> tuple[str, bool]:
    """What transformers calls the source, and whether it is here already."""
    scheme, _, name = source.partition(":")
    if scheme == "hub" and name:
        return name, False
    folder = Path(source)
    if scheme == "package" and name:
        try:
            folder = Path(str(files(name) / "model"))
        except (ModuleNotFoundError, TypeError, ValueError):
            raise ConfigError(f"sentence_encoder.source: there is no package '{name}'. Install it with pip.") from None
    if not folder.is_dir():
        raise ConfigError(
            f"sentence_encoder.source: there is no folder '{folder}'. Give one, 'package:NAME' or 'hub:NAME'."
        )
    return str(folder), True


@contextmanager
def _without_progress(bars: Any) -> Iterator[None]:
    """Progress bars are for commands to show, not for a library."""
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")


def _transformers() -> Any:
    try:
        return import_module("transformers")
    except ModuleNotFoundError:
        raise MissingExtra("A pretrained encoder", "bert") from None
