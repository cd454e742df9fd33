"""The tensors that a system must have: a folder from elsewhere is checked before anything is computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from unshuffle.errors import ConfigError
from unshuffle.light.encoder import MODEL, TOGETHER
from unshuffle.light.systems import DECODERS
from unshuffle.light.weights import SCALE, Weights
from unshuffle.parts.architecture import checked_architecture

Shape = tuple[int, ...]
HEADER = 2**22
"""Bytes that the file of weights may have beyond eight for each number."""


def expected_shapes(system: Mapping[str, Any], words: int, where: str) -> dict[str, Shape]:
    """Names and shapes of the tensors of a system, whose description may come from a stranger."""
    checked_architecture(system["sentence_encoder"]["architecture"], kinds={"bert"}, slot="sentence_encoder")
    try:
        return dict(_expected(system, words))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ConfigError(f"{where}: 'system' lacks sizes. Download the model folder again.") from None


def largest_file(shapes: Mapping[str, Shape]) -> int:
    """Bytes that a file of these tensors has at most."""
    return 8 * sum(prod(shape) for shape in shapes.values()) + HEADER


def check_shapes(system: Mapping[str, Any], weights: Weights, words: int, where: str) -> None:
    """Refuses missing, foreign and misshapen tensors, types that are not weights, and scales that do not fit."""
    expected = expected_shapes(system, words, where)
    stored = {name: value for name, value in weights.stored.items() if not name.endswith(SCALE)}
    for name, shape in expected.items():
        if name not in stored or stored[name].shape != shape:
            raise ConfigError(f"{where}: '{name}' is missing or has another shape. Download the model folder again.")
    for name, value in weights.stored.items():
        base = name.removesuffix(SCALE)
        wrong = base not in expected or value.dtype not in (np.int8, np.float16, np.float32)
        if name != base:
            wrong = wrong or value.shape != (expected[base][0], 1) or stored[base].dtype != np.int8
        elif value.dtype == np.int8:
            wrong = wrong or name + SCALE not in weights.stored
        if wrong:
            raise ConfigError(f"{where}: '{name}' belongs to another system. Download the model folder again.")


def _expected(system: Mapping[str, Any], words: int) -> Iterator[tuple[str, Shape]]:
    yield from _encoder(system["sentence_encoder"], words)
    width = int(system["sentence_encoder"]["architecture"]["hidden_size"])
    decoder = system["decoder"]
    yield from DECODERS[decoder["kind"]].shapes(decoder, width)


def _encoder(config: Mapping[str, Any], words: int) -> Iterator[tuple[str, Shape]]:
    architecture = config["architecture"]
    width, inner = int(architecture["hidden_size"]), int(architecture["intermediate_size"])
    layers, heads = int(architecture["num_hidden_layers"]), int(architecture["num_attention_heads"])
    vocabulary = int(architecture["vocab_size"])
    if width % heads or words > vocabulary:
        raise ValueError("no BERT has these sizes")
    yield f"{MODEL}.embeddings.word_embeddings.weight", (vocabulary, width)
    yield f"{MODEL}.embeddings.position_embeddings.weight", (int(architecture["max_position_embeddings"]), width)
    yield f"{MODEL}.embeddings.token_type_embeddings.weight", (int(architecture["type_vocab_size"]), width)
    yield from _norm(f"{MODEL}.embeddings.LayerNorm", width)
    for number in range(min(layers, 1_000)):
        layer = f"{MODEL}.encoder.layer.{number}"
        for part in ("query", "key", "value"):
            yield from _linear(f"{layer}.attention.self.{part}", width, width)
        yield from _linear(f"{layer}.attention.output.dense", width, width)
        yield from _norm(f"{layer}.attention.output.LayerNorm", width)
        yield from _linear(f"{layer}.intermediate.dense", width, inner)
        yield from _linear(f"{layer}.output.dense", inner, width)
        yield from _norm(f"{layer}.output.LayerNorm", width)
    if config["kind"] in TOGETHER:
        alone = int(config["alone"])
        if not 0 <= alone < layers:
            raise ValueError("no layer is left to meet in")
        yield "sentence_encoder.apart", (layers - alone, heads)


def _linear(name: str, before: int, after: int) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (after, before)
    yield f"{name}.bias", (after,)


def _norm(name: str, width: int) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (width,)
    yield f"{name}.bias", (width,)
