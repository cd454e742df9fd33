"""The FHDecoder in numpy: what `decode/future_history.py` computes in search (Yin et al., AAAI 2020)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unshuffle.light.pointer import EncodedBatch, LightCarry, LightPointerMemory, PointerWeights, Rows
from unshuffle.light.weights import Weights
from unshuffle.search.contracts import Ints, Memory, Prefix

MODULES = 3
"""Future, history 1 and history 2, in this order."""
FUTURE, LAST, BEFORE_LAST = range(MODULES)
LONG = 100
"""Sentences up to which everything about all pairs is computed beforehand; of 200 it would be 184 MB."""
PORTION = 20_000
"""Pairs of a long document whose vectors are held at once."""
KEPT_NUMBERS, KEPT_ROWS = 1 << 25, 16
"""Numbers that the rows kept of a long document may have, and how many are kept at least."""


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
        """(..., hidden), (..., hidden) -> (..., vector) of ordered pairs of sentences."""
        hidden = one + other
        vectors = np.maximum(hidden, 0, out=hidden) @ self.second[number]
        np.maximum(vectors, 0, out=vectors)
        odds = vectors @ self.heads[number]
        share = np.exp(odds - odds.max(-1, keepdims=True))
        share /= share.sum(-1, keepdims=True)
        found: Rows = np.concatenate([vectors, share], -1)
        return found


class PairTables:
    """Everything that pairs add, computed beforehand: (documents, longest, longest, attention) three times."""

    def __init__(self, weights: FutureHistoryWeights, read: EncodedBatch) -> None:
        documents, longest = len(read.sizes), int(read.sizes.max())
        self.tables = np.zeros((MODULES, documents, longest, longest, weights.last.shape[1]), np.float32)
        ones = [read.encoded @ weight for weight in weights.ones]
        others = [read.encoded @ weight for weight in weights.others]
        first = 0
        for document, size in enumerate(read.sizes.tolist()):
            own = slice(first, first + size)
            itself = np.arange(size)
            pairs = []
            for number in range(MODULES):
                pairs.append(weights.vectors(number, ones[number][own, None], others[number][own]))
                pairs[-1][itself, itself] = 0  # a sentence is no pair with itself
            square = self.tables[:, document, :size, :size]
            square[FUTURE] = (pairs[0] @ weights.later).swapaxes(0, 1) + pairs[0] @ weights.earlier
            square[LAST] = (pairs[1] @ weights.last).swapaxes(0, 1)
            square[BEFORE_LAST] = (pairs[2] @ weights.before_last).swapaxes(0, 1)
            first += size

    def everything(self) -> Rows:
        """(documents, longest, attention) each candidate's sum over all other sentences."""
        total: Rows = self.tables[FUTURE].sum(1)
        return total

    def rows(self, number: int, document: Ints, sentence: Ints) -> Rows:
        """(rows,) -> (rows, longest, attention) what these sentences add to every candidate."""
        found: Rows = self.tables[number, document, sentence]
        return found


class PairRows:
    """The same for one long document: only rows that a search asks for are computed, and the latest of them kept."""

    def __init__(self, weights: FutureHistoryWeights, read: EncodedBatch) -> None:
        if len(read.sizes) != 1:
            raise ValueError("long documents are searched one at a time")
        self.weights = weights
        self.ones = [read.encoded @ weight for weight in weights.ones]
        self.others = [read.encoded @ weight for weight in weights.others]
        size, attention = len(read.encoded), weights.last.shape[1]
        self.most = max(KEPT_ROWS, KEPT_NUMBERS // (size * attention))
        self.kept: OrderedDict[tuple[int, int], Rows] = OrderedDict()

    def everything(self) -> Rows:
        """(1, sentences, attention); vectors are added up before they are multiplied."""
        size = len(self.ones[0])
        as_one = np.empty((size, self.weights.later.shape[0]), np.float32)
        as_other = np.zeros_like(as_one)
        step = max(1, PORTION // size)
        for start in range(0, size, step):
            some = slice(start, min(start + step, size))
            pairs = self.weights.vectors(FUTURE, self.ones[FUTURE][some, None], self.others[FUTURE])
            pairs[np.arange(len(pairs)), np.arange(some.start, some.stop)] = 0
            as_one[some] = pairs.sum(1)
            as_other += pairs.sum(0)
        total: Rows = (as_one @ self.weights.later + as_other @ self.weights.earlier)[None]
        return total

    def rows(self, number: int, document: Ints, sentence: Ints) -> Rows:
        """(rows,) -> (rows, sentences, attention)."""
        distinct, which = np.unique(sentence, return_inverse=True)
        found: Rows = np.stack([self._row(number, int(one)) for one in distinct])[which]
        return found

    def _row(self, number: int, sentence: int) -> Rows:
        row = self.kept.pop((number, sentence), None)
        row = self._computed(number, sentence) if row is None else row
        self.kept[number, sentence] = row
        if len(self.kept) > self.most:
            self.kept.popitem(last=False)
        return row

    def _computed(self, number: int, sentence: int) -> Rows:
        """(sentences, attention) what one sentence adds to every candidate."""
        weights, ones, others = self.weights, self.ones[number], self.others[number]
        after = (weights.later, weights.last, weights.before_last)[number]
        row: Rows = weights.vectors(number, ones, others[sentence]) @ after
        if number == FUTURE:
            row += weights.vectors(number, ones[sentence], others) @ weights.earlier
        row[sentence] = 0
        return row


@dataclass(frozen=True, slots=True)
class LightFutureHistoryCarry:
    """The LSTM's state and each candidate's sum over the sentences that are left."""

    pointer: LightCarry
    left: Rows  # (rows, longest, attention)


class LightFutureHistoryMemory:
    """What pairs add to a candidate's key, whole tables or row by row: rows are the other sentence."""

    def __init__(self, weights: FutureHistoryWeights, read: EncodedBatch) -> None:
        self.weights, self.sizes = weights, read.sizes
        self.pointer = LightPointerMemory(weights, read, weights.keys(read))
        longest = int(read.sizes.max())
        self.pairs: PairTables | PairRows = (PairTables if longest <= LONG else PairRows)(weights, read)

    def begin(self) -> LightFutureHistoryCarry:
        """Everything is left."""
        return LightFutureHistoryCarry(self.pointer.begin(), self.pairs.everything())

    def advance(
        self, carry: LightFutureHistoryCarry, parent: Ints, document: Ints, choice: Ints
    ) -> LightFutureHistoryCarry:
        """One fewer is left."""
        left = carry.left[parent] - self.pairs.rows(FUTURE, document, choice)
        return LightFutureHistoryCarry(self.pointer.advance(carry.pointer, parent, document, choice), left)

    def logits(self, carry: LightFutureHistoryCarry, prefix: Prefix) -> Rows:
        """(rows, longest)."""
        document, chosen = prefix.document, prefix.chosen
        steps = chosen.shape[1]
        sizes = np.maximum(self.sizes - steps - 1, 1) if self.weights.divide_by_left else self.sizes
        keys = carry.left / sizes[document].astype(np.float32)[:, None, None]
        keys += self.pointer.keys[document]
        if steps > 0:
            keys += self.pairs.rows(LAST, document, chosen[:, -1])
        if steps > 1:
            keys += self.pairs.rows(BEFORE_LAST, document, chosen[:, -2])
        return self.pointer.attend(carry.pointer.hidden, keys)
