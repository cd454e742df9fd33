"""Sentences to vectors: embeddings in numpy, the layers of the transformer in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshuffle.errors import ConfigError
from unshuffle.light.bert import BertLayers, BertShape, Rows
from unshuffle.light.weights import Shape, Weights
from unshuffle.search.contracts import Ints

MODEL = "sentence_encoder.pieces.model"
LARGEST_CHUNK = 65_536
"""Pieces, with padding, that are read at once; more would only take memory."""
BIAS_UNIT = 10.0
"""Unit in which the bias of attention between sentences is stored."""
CELLS = 1024
"""Cells of a padded table: larger ones leave the processor's cache and gain nothing."""
LONG = 1024
"""Pieces from which on a sequence is read in blocks: attention over all of it at once grows with the square."""
SINGLY = ("transformer",)
"""Kinds that read every sentence on its own in all layers."""
TOGETHER = ("transformer_set",)
"""Kinds in whose upper layers the sentences of a document see each other."""


class LightEncoder:
    """A pretrained transformer over the sentences of some documents; a sentence is the mean of its word pieces."""

    def __init__(self, config: Mapping[str, Any], weights: Weights, *, int8: bool, threads: int) -> None:
        architecture = config["architecture"]
        if config["kind"] not in SINGLY + TOGETHER or architecture.get("model_type") != "bert":
            raise ConfigError(f"sentence_encoder: kind '{config['kind']}' does not run without torch.")
        shape = BertShape(
            width=architecture["hidden_size"],
            inner=architecture["intermediate_size"],
            heads=architecture["num_attention_heads"],
            epsilon=architecture["layer_norm_eps"],
        )
        self._weights, self._epsilon = weights, shape.epsilon
        self.width = shape.width
        chunk = config["chunk_tokens"]  # other runtimes go by it
        if type(chunk) is not int or not 1 <= chunk <= LARGEST_CHUNK:
            raise ConfigError(f"sentence_encoder.chunk_tokens: it must be a number from 1 to {LARGEST_CHUNK}.")
        self._pool_first = config.get("pooling") == "first"
        self._norm = (
            weights.floats(f"{MODEL}.embeddings.LayerNorm.weight"),
            weights.floats(f"{MODEL}.embeddings.LayerNorm.bias"),
        )
        self._positions = weights.floats(f"{MODEL}.embeddings.position_embeddings.weight")
        self._segment = weights.floats(f"{MODEL}.embeddings.token_type_embeddings.weight")[0]
        layers = [f"{MODEL}.encoder.layer.{number}" for number in range(architecture["num_hidden_layers"])]
        alone = int(config["alone"]) if config["kind"] in TOGETHER else len(layers)
        self._lower = BertLayers(shape, weights, layers[:alone], int8=int8, threads=threads) if alone else None
        self._upper = None
        if alone < len(layers):
            between = BIAS_UNIT * weights.floats("sentence_encoder.apart")
            self._upper = BertLayers(shape, weights, layers[alone:], int8=int8, threads=threads, between=between)

    def __call__(self, documents: Sequence[Sequence[NDArray[np.int64]]]) -> Rows:
        """Word-piece numbers of every sentence of every document -> (sentences, width)."""
        sentences = [sentence for document in documents for sentence in document]
        lengths = np.array([len(sentence) for sentence in sentences])
        states = self._embedded(np.concatenate(sentences), lengths)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        if self._lower is not None:
            states = _through(self._lower, states, lengths, sentence)
        if self._upper is not None:
            sizes = [sum(map(len, document)) for document in documents]
            states = _through(self._upper, states, np.array(sizes), sentence)
        first = lengths.cumsum() - lengths
        if self._pool_first:
            beginnings: Rows = states[first]
            return beginnings
        # The mean leaves out the mark at the beginning, unless there is nothing else.
        total = np.add.reduceat(states, first, axis=0)
        rest = np.where(lengths[:, None] > 1, total - states[first], total)
        mean: Rows = rest / np.maximum(lengths - 1, 1).astype(np.float32)[:, None]
        return mean

    def _embedded(self, pieces: Ints, lengths: Ints) -> Rows:
        position = np.arange(len(pieces)) - np.repeat(lengths.cumsum() - lengths, lengths)
        words = self._weights.rows(f"{MODEL}.embeddings.word_embeddings.weight", pieces)
        total = words + self._positions[position] + self._segment
        centred = total - total.mean(1, keepdims=True)
        scale = np.sqrt((centred**2).mean(1, keepdims=True) + np.float32(self._epsilon))
        normed: Rows = centred / scale * self._norm[0] + self._norm[1]
        return normed


@dataclass(frozen=True, slots=True)
class PaddedGroup:
    """Sequences of similar length as a padded table."""

    pieces: Ints  # (pieces,) where each stands in the flat text, row by row
    cells: Ints  # (rows, longest) number of the piece in each cell, 0 where there is none
    present: NDArray[np.bool_]  # (rows, longest)


def _through(layers: BertLayers, states: Rows, lengths: Ints, sentence: Ints) -> Rows:
    """(pieces, width) of sequences with these lengths, end to end -> the same after the layers."""
    found = np.empty_like(states)
    for group in _groups(lengths):
        own = sentence[group.pieces]
        if group.present.shape[1] > LONG:  # alone in its group
            found[group.pieces] = layers.in_blocks(states[group.pieces], own)
        else:
            found[group.pieces] = layers(states[group.pieces], group.cells, group.present, own[group.cells])
    return found


def _groups(lengths: Ints) -> Iterator[PaddedGroup]:
    """Sequences of similar length together: a group ends when it is full, or large enough and too uneven."""
    order = np.argsort(lengths, kind="stable")
    start = lengths.cumsum() - lengths
    first = 0
    by_length = lengths[order].tolist()
    for row in range(len(by_length) + 1):
        rows = row - first
        if row < len(by_length):
            uneven = rows * by_length[row] >= 512 and by_length[row] > 1.25 * by_length[first]
            if not rows or ((rows + 1) * by_length[row] <= CELLS and by_length[row] <= LONG and not uneven):
                continue
        some = order[first:row]
        present = np.arange(lengths[some].max()) < lengths[some, None]
        cells = np.zeros(present.shape, np.int64)
        cells[present] = np.arange(present.sum())
        pieces = (start[some, None] + np.arange(present.shape[1]))[present]
        yield PaddedGroup(pieces, cells, present)
        first = row


def encoder_shapes(config: Mapping[str, Any], words: int) -> Iterator[tuple[str, Shape]]:
    """Names and shapes of an encoder's tensors."""
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
