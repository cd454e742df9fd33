"""What the description of a transformer may say: it may come from a stranger's folder."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from unshuffle.errors import ConfigError

Rule = Callable[[Any], str]
"""Says what a value must be, or nothing where it is that."""

POSITION_CELLS = 1 << 23
"""Positions times width: some kinds compute this table number by number when they are built."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number in a range, or none where that is allowed."""

    least: int
    most: int
    optional: bool = False

    def __call__(self, value: Any) -> str:
        """The rule."""
        if value is None and self.optional:
            return ""
        sound = isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most
        return "" if sound else f"a whole number from {self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a range."""

    least: float
    most: float

    def __call__(self, value: Any) -> str:
        """The rule."""
        sound = isinstance(value, int | float) and not isinstance(value, bool) and self.least <= value <= self.most
        return "" if sound else f"a number from {self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some values."""

    values: tuple[Any, ...]

    def __call__(self, value: Any) -> str:
        """The rule."""
        sound = any(type(value) is type(known) and value == known for known in self.values)
        return "" if sound else f"one of {', '.join(map(repr, self.values))}"


def _position_types(value: Any) -> str:
    named = value.split("|") if isinstance(value, str) else [] if value is None else value
    sound = isinstance(named, list) and len(named) <= 2 and all(name in ("c2p", "p2c") for name in named)
    return "" if sound else "a list of 'c2p' and 'p2c'"


_LAYERS, _HEADS, _WIDTH = Whole(1, 96), Whole(1, 128), Whole(1, 8192)
_INNER, _SHARE, _FLAG = Whole(1, 65_536), Number(0, 1), OneOf((True, False))
_TOKEN = Whole(0, 2_000_000, optional=True)
_ACTIVATION = OneOf(("gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "relu", "silu", "swish", "tanh"))

RULES: dict[str, Rule] = {
    "vocab_size": Whole(1, 2_000_000),
    "max_position_embeddings": Whole(1, 65_536),
    "type_vocab_size": Whole(0, 64),
    **dict.fromkeys(("hidden_size", "d_model", "dim", "embedding_size"), _WIDTH),
    **dict.fromkeys(("num_hidden_layers", "encoder_layers", "decoder_layers", "n_layers"), _LAYERS),
    **dict.fromkeys(("num_attention_heads", "encoder_attention_heads", "decoder_attention_heads", "n_heads"), _HEADS),
    **dict.fromkeys(("intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "hidden_dim"), _INNER),
    "attention_head_size": Whole(1, 1024),
    **dict.fromkeys(("hidden_act", "activation", "activation_function", "conv_act"), _ACTIVATION),
    **dict.fromkeys(("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout"), _SHARE),
    **dict.fromkeys(("attention_dropout", "activation_dropout", "encoder_layerdrop", "decoder_layerdrop"), _SHARE),
    **dict.fromkeys(("initializer_range", "init_std"), Number(0, 10)),
    "layer_norm_eps": Number(math.ulp(0.0), 1),
    **dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"), _TOKEN),
    **dict.fromkeys(("scale_embedding", "sinusoidal_pos_embds", "relative_attention", "position_biased_input"), _FLAG),
    **dict.fromkeys(("share_att_key", "legacy"), _FLAG),
    "position_embedding_type": OneOf(("absolute",)),
    "is_decoder": OneOf((False,)),
    "relative_attention_num_buckets": Whole(1, 65_536),
    **dict.fromkeys(("max_relative_positions", "position_buckets"), Whole(-1, 65_536)),
    "pos_att_type": _position_types,
    "norm_rel_ebd": OneOf(("none", "layer_norm")),
    "conv_kernel_size": Whole(0, 63),
}
"""Options of a description by name; no other reaches the library that builds the network."""

WIDTHS = {"hidden_size": "num_attention_heads", "dim": "n_heads", "d_model": "encoder_attention_heads"}
"""Options that give the width, with those that give the number of heads among which it is divided."""
NO_SEGMENTS = frozenset({"deberta", "deberta-v2"})
"""Kinds that need not tell the parts of a text apart."""


def known_options(described: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a description that decide its network; others tell of its history, or name code to be run."""
    return {name: value for name, value in described.items() if name in RULES or name == "model_type"}


def checked_architecture(described: Mapping[str, Any], *, kinds: AbstractSet[str], slot: str) -> dict[str, Any]:
    """The known options, each of a sound type and size."""
    options, where = known_options(described), f"{slot}.architecture"
    check_kind(options.get("model_type"), kinds, where)
    for name, value in options.items():
        wanted = RULES[name](value) if name in RULES else ""
        if wanted:
            raise ConfigError(f"{where}.{name}: {repr(value)[:60]} is not {wanted}.")
    width = max((options[name] for name in WIDTHS if name in options), default=1024)
    for name, heads in WIDTHS.items():
        if name in options and options[name] % options.get(heads, 1):
            raise ConfigError(f"{where}.{heads}: {options[heads]} heads cannot share a width of {options[name]}.")
    if width * options.get("max_position_embeddings", 512) > POSITION_CELLS:
        raise ConfigError(
            f"{where}.max_position_embeddings: with a width of {width} there can be at most {POSITION_CELLS // width}."
        )
    if options.get("type_vocab_size", 1) == 0 and options["model_type"] not in NO_SEGMENTS:
        raise ConfigError(f"{where}.type_vocab_size: 0 is not a whole number from 1 to 64.")
    padding, words = options.get("pad_token_id"), options.get("vocab_size")
    if padding is not None and words is not None and padding >= words:
        raise ConfigError(f"{where}.pad_token_id: there is no piece {padding} among {words}.")
    return options


def check_kind(kind: object, kinds: AbstractSet[str], where: str) -> None:
    """Refuses kinds of network that cannot be used."""
    if not isinstance(kind, str) or kind not in kinds:
        raise ConfigError(f"{where}: kind {str(kind)[:60]!r} cannot be used. Known: {', '.join(sorted(kinds))}.")
