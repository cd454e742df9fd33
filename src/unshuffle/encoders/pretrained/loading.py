"""Pretrained transformers: where they come from, and what a model folder must keep so as not to need them again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self

from annotated_types import Ge, Le, Lt
from torch import nn

from unshuffle.encoders.contracts import SentenceEncoderConfig, Vocabulary
from unshuffle.encoders.pretrained.bert import Bert
from unshuffle.encoders.pretrained.checkpoint import architecture_of, built, no_fit, pieces_tokenizer, source_file
from unshuffle.errors import ConfigError
from unshuffle.parts.architecture import checked_architecture
from unshuffle.storage.files import read_tensors
from unshuffle.text.tokens import TokensConfig

SLOT = "sentence_encoder"

MODEL_TYPES = frozenset(
    {"bert", "roberta", "xlm-roberta", "camembert", "distilbert", "electra", "mpnet", "deberta", "deberta-v2", "bart"}
)
"""Kinds of transformer that are known to read `[CLS] words [SEP]`."""
DROPOUTS = {"hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout", "activation_dropout"}
"""What the kinds call their dropouts."""
UNUSED = {"decoder_layers": 1, "decoder_attention_heads": 1, "decoder_ffn_dim": 1}
"""Sizes of the decoder that comes with an encoder, and is dropped."""


@dataclass(frozen=True, kw_only=True)
class PretrainedConfig(SentenceEncoderConfig):
    """Which transformer to use and how much of it to train."""

    source: str = ""
    """Where weights come from: a folder, `package:NAME`, or `hub:NAME`; empty for those the model folder brings."""
    architecture: dict[str, Any] = field(default_factory=dict)
    """The transformer's own configuration; filled from the source, so that a model folder needs no source."""
    frozen_layers: Annotated[int, Ge(-1)] = 0
    """This many of the lowest layers are not trained; -1 for all of them."""
    freeze_embeddings: bool = False
    """Whether what lies below the layers is left untrained too."""
    inner_dropout: Annotated[float, Ge(0), Lt(1)] | None = None
    """Dropout inside the transformer; None leaves the architecture's."""
    chunk_tokens: Annotated[int, Ge(1), Le(65_536)] = 4096
    """Word pieces that are run at once, padding included; bounds the memory of inference."""

    @property
    def reads_pieces(self) -> bool:
        """Always."""
        return True

    @property
    def large(self) -> bool:
        """Always."""
        return True

    def resolved(self) -> Self:
        """The same with its architecture filled in; weights still come from the source."""
        return self if self.architecture else replace(self, architecture=_architecture(self))

    def detached(self) -> Self:
        """The same without its source, as a model folder that holds the weights should keep it."""
        return replace(self.resolved(), source="")

    def vocabulary(self, sentences: Iterable[str], tokens: TokensConfig, seed: int) -> Vocabulary:
        """The source's own word pieces, whatever the sentences."""
        return Vocabulary(pieces_tokenizer(self.source, tokens.longest))

    def fine_tuning(self) -> dict[str, Any]:
        """Small steps, soon done."""
        return {
            "optimizer": "adamw",
            "learning_rate": 2e-4,
            "encoder_learning_rate": 3e-5,
            "weight_decay": 0.01,
            "warmup": 0.1,
            "clip": 1.0,
            "batch": 8,
            "epochs": 3,
            "patience": 2,
        }


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A transformer and what has to be known to feed it."""

    model: nn.Module
    kind: str
    words: int
    padding: int
    width: int
    positions: int
    segments: int
    layers: int


def load(config: PretrainedConfig) -> Pretrained:
    """The transformer, with the source's weights where there is one; of encoder-decoders the encoder."""
    architecture = checked_architecture(config.resolved().architecture, kinds=MODEL_TYPES, slot=SLOT)
    if is_plain_bert(architecture):
        model: nn.Module = Bert(architecture)
        if config.source:
            _fill(model, config.source)
        return Pretrained(model, "bert", **_numbers(lambda name, default: architecture.get(name, default)))
    found = _encoder(config, architecture)
    described = found.config
    return Pretrained(found, described.model_type, **_numbers(lambda name, default: getattr(described, name, default)))


def is_plain_bert(architecture: Mapping[str, Any]) -> bool:
    """Whether our own module computes the same, so that the transformers library need not be loaded."""
    return (
        architecture.get("model_type") == "bert"
        and architecture.get("hidden_act", "gelu") == "gelu"
        and architecture.get("position_embedding_type", "absolute") == "absolute"
    )


def _numbers(get: Callable[[str, Any], Any]) -> dict[str, int]:
    return {
        "words": int(get("vocab_size", 30522)),
        "padding": int(get("pad_token_id", 0) or 0),
        "width": int(get("hidden_size", 768)),
        "positions": int(get("max_position_embeddings", 512)),
        "segments": int(get("type_vocab_size", 2 if get("model_type", "bert") == "bert" else 0) or 0),
        "layers": int(get("num_hidden_layers", 12)),
    }


def _fill(model: nn.Module, source: str) -> None:
    """Reads a BERT checkpoint; what it has beyond the encoder (a pooler, a head) is left out."""
    stored = read_tensors(source_file(source, "model.safetensors"))
    weights = {name.removeprefix("bert."): value.float() for name, value in stored.items()}
    wanted = model.state_dict()
    for name, value in wanted.items():
        if name not in weights or weights[name].shape != value.shape:
            raise no_fit(source, f"'{name}'", SLOT)
    model.load_state_dict({name: weights[name] for name in wanted})


def _encoder(config: PretrainedConfig, architecture: dict[str, Any]) -> Any:
    model = built(config.source, architecture, kinds=MODEL_TYPES, slot=SLOT, unused=UNUSED)
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    if hasattr(model, "pooler"):
        model.pooler = None  # nothing reads it, so it would only wait in vain for gradients
    return model


def freeze(found: Pretrained, config: PretrainedConfig) -> bool:
    """Leaves untrained what the config says; whether that is everything."""
    model, layers = found.model, layers_of(found)
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


def layers_of(found: Pretrained) -> nn.ModuleList:
    """The stack of layers, whatever it is called."""
    lists = (part for part in found.model.modules() if isinstance(part, nn.ModuleList))
    return next(part for part in lists if len(part) == found.layers)


def _architecture(config: PretrainedConfig) -> dict[str, Any]:
    described = architecture_of(config.source, kinds=MODEL_TYPES, slot=SLOT)
    if config.inner_dropout is not None:
        known = DROPOUTS & set(described) or {"hidden_dropout_prob", "attention_probs_dropout_prob"}
        described |= dict.fromkeys(sorted(known), config.inner_dropout)
    return described
