"""The FHDecoder in numpy: what `decode/future_history.py` computes in search (Yin et al., AAAI 2020)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unshuffle.light.pointer import EncodedBatch, LightCarry, LightPointerMemory, PointerWeights, Rows
from unshuffle.light.weights import Weights
from unshuffle.search.contracts import Ints, Memory, Prefix

MODULES = 3
"""Future, history 1 and history 2, in this order."""


class FutureHistoryWeights(PointerWeights):
    """The decoder's weights, unpacked once per model; linear maps that follow each other are multiplied."""

    def __init__(self, weights: Weights, config: Mapping[str, Any]) -> None:
        super().__init__(weights, config)
        get = weights.floats
        self.divide_by_left = config["divide"] == "left"
        self.ones = np.split(get("decoder.networks.from_one.weight").T, MODULES, 1)
        self.others = np.split(get("decoder.networks.from_other.weight").T, MODULES, 1)
        self.second = [get(f"decoder.networks.second.{number}.weight").T for number in range(MODULES)]
        self.heads = [get(f"decoder.networks.heads.{number}.weight").T for number in range(MODULES)]
        pair_key = get("decoder.pair_key.weight")
        if config["keys"] == "concatenate":
            from_pairs, from_sentences = np.split(get("decoder.merge.weight"), 2, 1)
            pair_key = from_pairs @ pair_key
            self.key, self.key_bias = self.key @ from_sentences.T, from_sentences @ self.key_bias
        last, before_last, later, earlier = (part.T for part in np.split(pair_key, 4, 1))
        self.last, self.before_last, self.later, self.earlier = last, before_last, later, earlier

    @classmethod
    def shapes(cls, config: Mapping[str, Any], width: int) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The tensors that a model folder must have, by name."""
        yield from super().shapes(config, width)
        attention, pair = int(config["attention_width"]) or width, int(config["pair_width"])
        yield "decoder.networks.from_one.weight", (MODULES * 2 * width, width)
        yield "decoder.networks.from_other.weight", (MODULES * 2 * width, width)
        for number in range(MODULES):
            yield f"decoder.networks.second.{number}.weight", (pair, 2 * width)
            yield f"decoder.networks.heads.{number}.weight", (2, pair)
        yield "decoder.pair_key.weight", (attention, 4 * (pair + 2))
        if config["keys"] == "concatenate":
            yield "decoder.merge.weight", (attention, 2 * attention)

    def memory(self, read: EncodedBatch) -> Memory[Any]:
        """Everything that does not depend on what has been chosen."""
        return LightFutureHistoryMemory(self, read)

    def vectors(self, number: int, one: Rows, other: Rows) -> Rows:
        """(n, hidden), (n, hidden) -> (n, n, vector) of every ordered pair of one document."""
        hidden = np.maximum(one[:, None] + other[None], 0)
        vectors = np.maximum(hidden @ self.second[number], 0)
        odds = vectors @ self.heads[number]
        share = np.exp(odds - odds.max(-1, keepdims=True))
        share /= share.sum(-1, keepdims=True)
        found: Rows = np.concatenate([vectors, share], -1)
        found[np.arange(len(one)), np.arange(len(one))] = 0  # a sentence is no pair with itself
        return found


@dataclass(frozen=True, slots=True)
class LightFutureHistoryCarry:
    """The LSTM's state and each candidate's sum over the sentences that are left."""

    pointer: LightCarry
    left: Rows  # (rows, longest, attention)


class LightFutureHistoryMemory:
    """What pairs add to a candidate's key; rows are the other sentence, columns the candidate."""

    def __init__(self, weights: FutureHistoryWeights, read: EncodedBatch) -> None:
        self.weights, self.sizes = weights, read.sizes
        self.pointer = LightPointerMemory(weights, read, weights.keys(read))
        documents, longest = len(read.sizes), int(read.sizes.max())
        shape = (documents, longest, longest, weights.last.shape[1])
        self.future, self.last, self.before_last = (np.zeros(shape, np.float32) for _ in range(MODULES))
        ones = [read.encoded @ weight for weight in weights.ones]
        others = [read.encoded @ weight for weight in weights.others]
        first = 0
        for document, size in enumerate(read.sizes.tolist()):
            own = slice(first, first + size)
            pairs = [weights.vectors(number, ones[number][own], others[number][own]) for number in range(MODULES)]
            square = np.s_[document, :size, :size]
            self.future[square] = (pairs[0] @ weights.later).swapaxes(0, 1) + pairs[0] @ weights.earlier
            self.last[square] = (pairs[1] @ weights.last).swapaxes(0, 1)
            self.before_last[square] = (pairs[2] @ weights.before_last).swapaxes(0, 1)
            first += size

    def begin(self) -> LightFutureHistoryCarry:
        """Everything is left."""
        return LightFutureHistoryCarry(self.pointer.begin(), self.future.sum(1))

    def advance(
        self, carry: LightFutureHistoryCarry, parent: Ints, document: Ints, choice: Ints
    ) -> LightFutureHistoryCarry:
        """One fewer is left."""
        left = carry.left[parent] - self.future[document, choice]
        return LightFutureHistoryCarry(self.pointer.advance(carry.pointer, parent, document, choice), left)

    def logits(self, carry: LightFutureHistoryCarry, prefix: Prefix) -> Rows:
        """(rows, longest)."""
        document, chosen = prefix.document, prefix.chosen
        steps = chosen.shape[1]
        sizes = np.maximum(self.sizes - steps - 1, 1) if self.weights.divide_by_left else self.sizes
        keys = carry.left / sizes[document].astype(np.float32)[:, None, None]
        keys += self.pointer.keys[document]
        if steps > 0:
            keys += self.last[document, chosen[:, -1]]
        if steps > 1:
            keys += self.before_last[document, chosen[:, -2]]
        return self.pointer.attend(carry.pointer.hidden, keys)
