"""The pointer decoder in numpy: what `decode/pointer.py` computes, step by step (Lai et al., 3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unshuffle.light.weights import Weights
from unshuffle.search.contracts import Ints, Memory, Prefix

Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """A batch as the encoders leave it."""

    sizes: Ints  # (documents,)
    encoded: Rows  # (sentences, width) the sentence encoder's vectors
    states: Rows  # (sentences, width) the paragraph encoder's
    documents: Rows  # (documents, width)


@dataclass(frozen=True, slots=True)
class LightCarry:
    """The recurrent state of each partial order."""

    hidden: Rows  # (rows, width)
    cell: Rows  # (rows, width)


class PointerWeights:
    """The decoder's weights, unpacked once per model."""

    def __init__(self, weights: Weights, config: Mapping[str, Any]) -> None:
        get = weights.floats
        self.from_input = get("decoder.lstm.weight_ih_l0").T
        self.recurrent = np.ascontiguousarray(get("decoder.lstm.weight_hh_l0").T)
        self.bias = get("decoder.lstm.bias_ih_l0") + get("decoder.lstm.bias_hh_l0")
        self.query, self.query_bias = get("decoder.query.weight").T, get("decoder.query.bias")
        self.score, self.score_bias = get("decoder.score.weight")[0], get("decoder.score.bias")
        self.key, self.key_bias = get("decoder.key.weight").T, get("decoder.key.bias")

    @classmethod
    def shapes(cls, config: Mapping[str, Any], width: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The tensors that a model folder must have, by name."""
        attention = int(config["attention_width"]) or width
        yield "decoder.query.weight", (attention, width)
        yield "decoder.query.bias", (attention,)
        yield "decoder.score.weight", (1, attention)
        yield "decoder.score.bias", (1,)
        yield "decoder.key.weight", (attention, 2 * width)
        yield "decoder.key.bias", (attention,)
        for name in ("ih", "hh"):
            yield f"decoder.lstm.weight_{name}_l0", (4 * width, width)
            yield f"decoder.lstm.bias_{name}_l0", (4 * width,)

    def keys(self, read: EncodedBatch) -> Rows:
        """(sentences, attention)."""
        keys: Rows = np.concatenate([read.encoded, read.states], 1) @ self.key + self.key_bias
        return keys

    def memory(self, read: EncodedBatch) -> Memory[Any]:
        """Everything that does not depend on what has been chosen."""
        return LightPointerMemory(self, read, self.keys(read))


class LightPointerMemory:
    """Keys and the input half of the LSTM's gates, computed once per sentence."""

    def __init__(self, weights: PointerWeights, read: EncodedBatch, keys: Rows) -> None:
        self.weights = weights
        self.inputs = padded(read.encoded @ weights.from_input + weights.bias, read.sizes)
        self.keys = padded(keys, read.sizes)
        self.documents = read.documents

    def begin(self) -> LightCarry:
        """Nothing read: the input is zero, the state is the document's."""
        gates = self.weights.bias + self.documents @ self.weights.recurrent
        return lstm_step(gates, np.zeros_like(self.documents))

    def advance(self, carry: LightCarry, parent: Ints, document: Ints, choice: Ints) -> LightCarry:
        """Children of one parent share its recurrent product."""
        parents, which = np.unique(parent, return_inverse=True)
        recurrent = carry.hidden[parents] @ self.weights.recurrent
        return lstm_step(self.inputs[document, choice] + recurrent[which], carry.cell[parent])

    def logits(self, carry: LightCarry, prefix: Prefix) -> Rows:
        """(rows, longest)."""
        return self.attend(carry.hidden, self.keys[prefix.document])

    def attend(self, hidden: Rows, keys: Rows) -> Rows:
        """(rows, width), (rows, longest, attention) -> (rows, longest); the keys are overwritten."""
        weights = self.weights
        keys += (hidden @ weights.query + weights.query_bias)[:, None]
        np.tanh(keys, out=keys)
        logits: Rows = keys @ weights.score + weights.score_bias
        return logits


def padded(rows: Rows, sizes: Ints) -> Rows:
    """(sentences, width) -> (documents, longest, width), zeros after the last sentence."""
    table = np.zeros((len(sizes), int(sizes.max()), rows.shape[1]), np.float32)
    table[np.arange(table.shape[1]) < sizes[:, None]] = rows
    return table


def lstm_step(gates: Rows, cell: Rows) -> LightCarry:
    """Gates are stacked input, forget, candidate, output."""
    enter, forget, candidate, leave = np.split(gates, 4, 1)
    cell = sigmoid(forget) * cell + sigmoid(enter) * np.tanh(candidate)
    return LightCarry(sigmoid(leave) * np.tanh(cell), cell)


def sigmoid(values: Rows) -> Rows:
    """Through tanh, which never overflows."""
    found: Rows = np.float32(0.5) * np.tanh(np.float32(0.5) * values) + np.float32(0.5)
    return found
