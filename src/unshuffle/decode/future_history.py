"""Pointer whose keys see pairs with the sentences left and the last two chosen (Yin et al., AAAI 2020: FHDecoder)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn
from torch.nn import functional

from unshuffle.decode.contracts import GivenOrders, Gold, decoders
from unshuffle.decode.pairs.vectors import (
    MODULES,
    Average,
    EncodedPairs,
    PairNetworks,
    PairVectors,
    future_loss,
    history_loss,
)
from unshuffle.decode.pointer import Carry, Pointer, PointerConfig, PointerMemory
from unshuffle.decode.search import TensorPrefix, select_sentences
from unshuffle.encoders.contracts import States
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import GraphBatch, ordered_pairs
from unshuffle.layers.segments import pad_documents
from unshuffle.parts.registry import PartConfig

PAIRS_AT_ONCE = 16_384
"""Pairs whose vectors are computed together in search."""


@dataclass(frozen=True, kw_only=True)
class FutureHistoryConfig(PartConfig):
    """Pointer with future and history modules; the defaults are those of IRSE-GRN+FHDecoder (Lai et al., 5)."""

    attention_width: Annotated[int, Ge(0)] = 0
    """Width of the attention's hidden layer; 0 takes the width of the sentence states."""
    pairs: Literal["sentences", "encoded"] = "sentences"
    """`sentences`: three networks on encoder vectors; `encoded`: a pair encoder's vectors for all three (BERSON)."""
    pair_width: Annotated[int, Ge(1)] = 256
    """Width of a pair's vector; a pair encoder brings its own."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    """In the pair networks."""
    keys: Literal["pair", "concatenate", "add"] = "concatenate"
    """The pair key alone (Yin20), both keys concatenated and projected (IRSE-GRN), or their sum (BERSON)."""
    divide: Literal["sentences", "left"] = "sentences"
    """Future sums are divided by the document's sentences, or by the others that are left."""
    pair_loss_weight: Annotated[float, Ge(0)] = 0.5
    average: Average = "document"
    """Losses are summed over a document's choices, pairs over its sentences; `choice` averages over both (BERSON)."""


@dataclass(frozen=True, slots=True)
class KeyTables:
    """What each pair adds to a candidate's key; rows are the other sentence, columns the candidate."""

    future: Tensor  # (documents, longest, longest, attention) while the other is left, both directions together
    last: Tensor  # (documents, longest, longest, attention) when the other was chosen last
    before_last: Tensor  # (documents, longest, longest, attention) when it was chosen before that


@decoders.register("future_history", FutureHistoryConfig)
class FutureHistory(Pointer):
    """Keys sum the pairs with the last two chosen and the mean of the pairs with all that are left.

    The release divides the mean by the batch's longest document in training and by the document's own length in
    search; here it is the latter in both. Keys are linear in the pair vectors, so each pair's contribution is computed
    once.
    """

    def __init__(self, config: FutureHistoryConfig, *, width: int, encoded_width: int, pair_width: int = 0) -> None:
        pointer = PointerConfig(attention_width=config.attention_width)
        super().__init__(pointer, width=width, encoded_width=encoded_width)
        self.config = config
        attention = config.attention_width or width
        self.networks = self.encoded_pairs = None
        if config.pairs == "sentences":
            self.networks = PairNetworks(width=encoded_width, pair_width=config.pair_width, dropout=config.dropout)
            vector = self.networks.width
        elif pair_width:
            self.encoded_pairs = EncodedPairs(width=pair_width, dropout=config.dropout)
            vector = self.encoded_pairs.width
        else:
            raise ConfigError("decoder.pairs: 'encoded' needs a sentence encoder that encodes pairs. Use 'sentences'.")
        self.pair_key = nn.Linear(4 * vector, attention, bias=False)
        self.merge = nn.Linear(2 * attention, attention, bias=False) if config.keys == "concatenate" else None
        if config.keys == "pair":
            del self.key

    def keys(self, states: States) -> Tensor:
        """(sentences, attention) the part of a key that depends on the sentence alone."""
        if self.config.keys == "pair":
            return states.sentences.new_zeros(len(states.sentences), self.pair_key.out_features)
        keys = super().keys(states)
        return keys if self.merge is None else functional.linear(keys, self.merge.weight.chunk(2, 1)[1])

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Log-probability of each choice of a given order."""
        return self._transitions(states, graph, gold, self.vectors(states, graph, gold))

    def loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Negative log-likelihood of the true order plus the weighted losses of the pair modules."""
        pair_vectors = self.vectors(states, graph, gold)
        choices = -self._transitions(states, graph, gold, pair_vectors)
        average = self.config.average
        if average == "choice":
            choices = choices / (graph.sizes - 1).clamp_min(1)[graph.document_of_sentence]
        pairs = future_loss(pair_vectors[0], graph, gold, average)
        if self.networks is not None:
            pairs = pairs + sum(history_loss(pair_vectors[far], far, graph, gold, average) for far in (1, 2))
        return choices.sum() / graph.documents + self.config.pair_loss_weight * pairs

    def memory(self, states: States, graph: GraphBatch) -> FutureHistoryMemory:
        """Everything that does not depend on what has been chosen."""
        return FutureHistoryMemory(self, states, graph)

    def tables(self, pair_vectors: Iterable[list[PairVectors]], graph: GraphBatch, row: Tensor) -> KeyTables:
        """Every pair's contribution to the keys; `row`: (sentences,) the row of each sentence."""
        weight = self.pair_key.weight
        if self.merge is not None:
            weight = self.merge.weight.chunk(2, 1)[0] @ weight  # two linear maps are one
        last, before_last, later, earlier = weight.chunk(4, 1)
        longest = int(graph.sizes.max())
        future, *history = (weight.new_zeros(graph.documents * longest**2, len(weight)) for _ in range(MODULES))
        turned = self.encoded_pairs is not None  # BERSON's vectors are of (chosen, candidate)
        for portion in pair_vectors:
            _add(future, portion[0], later, graph, row, turned=False)
            _add(future, portion[0], earlier, graph, row, turned=True)
            _add(history[0], portion[1], last, graph, row, turned=turned)
            _add(history[1], portion[2], before_last, graph, row, turned=turned)
        return KeyTables(*(table.view(-1, longest, longest, len(weight)) for table in (future, *history)))

    def divisor(self, graph: GraphBatch, step: Tensor | int) -> Tensor:
        """Divisor of the future sums, for all documents at some step."""
        sizes = graph.sizes if self.config.divide == "sentences" else (graph.sizes - step - 1).clamp_min(1)
        return sizes.to(self.pair_key.weight.dtype)

    def vectors(self, states: States, graph: GraphBatch, gold: Gold) -> list[PairVectors]:
        """Future, history 1 and history 2; the latter of earlier sentences only."""
        pairs = ordered_pairs(graph)
        if self.networks is None:
            return next(self._encoded(states, pairs, len(pairs[0])))
        one, other = gold.position[pairs]
        history = pairs[:, one > other]
        vectors: list[PairVectors] = self.networks(states.encoded.sentences, [pairs, history, history])
        return vectors

    def portions(self, states: States, graph: GraphBatch) -> Iterator[list[PairVectors]]:
        """All three for all pairs, in portions: hidden layers for all pairs of 500 sentences would take gigabytes."""
        pairs = ordered_pairs(graph)
        if self.networks is None:
            return self._encoded(states, pairs, PAIRS_AT_ONCE)
        asked = ([some] * MODULES for some in torch.split(pairs, PAIRS_AT_ONCE, 1))
        return self.networks.portions(states.encoded.sentences, asked)

    def _encoded(self, states: States, pairs: Tensor, size: int) -> Iterator[list[PairVectors]]:
        encoded = states.encoded.pairs
        if self.encoded_pairs is None or encoded is None:
            raise ConfigError("decoder.pairs: 'encoded', but the sentence encoder gives no pairs. Use 'sentences'.")
        for some, asked in zip(torch.split(encoded, size), torch.split(pairs, size, 1), strict=True):
            yield [self.encoded_pairs(some, asked)] * MODULES

    def _transitions(self, states: States, graph: GraphBatch, gold: Gold, pair_vectors: list[PairVectors]) -> Tensor:
        given = GivenOrders.of(graph, gold)
        tables = self.tables([pair_vectors], graph, gold.position)  # rows in the given order
        steps = torch.arange(tables.future.shape[1], device=gold.position.device)
        divisor = torch.stack([self.divisor(graph, step) for step in steps], 1)  # (documents, steps)
        left = tables.future.flip(1).cumsum(1).flip(1)  # sums over the other sentences not yet chosen
        keys = left / divisor[..., None, None]
        keys = keys + _shifted(tables.last, 1) + _shifted(tables.before_last, 2)
        keys = keys[given.document, given.step] + pad_documents(self.keys(states), graph)[given.document]
        return given.log_probabilities(self.attend(self.follow(states, graph, given.order), keys))


def _add(
    table: Tensor, pair_vectors: PairVectors, weight: Tensor, graph: GraphBatch, row: Tensor, *, turned: bool
) -> None:
    """Adds pairs to a table of (documents × longest × longest, attention): other by row, candidate by column."""
    candidate, other = pair_vectors.pairs.flip(0) if turned else pair_vectors.pairs
    document = graph.document_of_sentence[candidate]
    longest = graph.sizes.max()
    cell = (document * longest + row[other]) * longest + candidate - graph.first_sentence[document]
    table.index_add_(0, cell, functional.linear(pair_vectors.vectors, weight).to(table.dtype))


def _shifted(table: Tensor, steps: int) -> Tensor:
    """Rows shifted to later steps; zeros before."""
    return functional.pad(table, (0, 0, 0, 0, steps, 0))[:, :-steps]


@dataclass(frozen=True, slots=True)
class FutureHistoryCarry:
    """The LSTM's state and each candidate's sum over the sentences that are left."""

    pointer: Carry
    left: Tensor  # (rows, longest, attention)


class FutureHistoryMemory:
    """Key tables of all pairs; a step gathers two rows and subtracts the chosen sentence from the running sums."""

    def __init__(self, decoder: FutureHistory, states: States, graph: GraphBatch) -> None:
        self.decoder = decoder
        self.graph = graph
        self.pointer = PointerMemory(decoder, states, graph)
        number = torch.arange(graph.sentences, device=graph.sizes.device)
        number = number - graph.first_sentence[graph.document_of_sentence]
        self.tables = decoder.tables(decoder.portions(states, graph), graph, number)

    def begin(self) -> FutureHistoryCarry:
        """All sentences are left."""
        return FutureHistoryCarry(self.pointer.begin(), self.tables.future.sum(1))

    def advance(
        self, carry: FutureHistoryCarry, parent: Tensor, document: Tensor, choice: Tensor
    ) -> FutureHistoryCarry:
        """One sentence fewer is left."""
        left = carry.left.index_select(0, parent).sub_(select_sentences(self.tables.future, document, choice))
        return FutureHistoryCarry(self.pointer.advance(carry.pointer, parent, document, choice), left)

    def logits(self, carry: FutureHistoryCarry, prefix: TensorPrefix) -> Tensor:
        """(rows, longest)."""
        document, chosen = prefix.document, prefix.chosen
        keys = carry.left / self.decoder.divisor(self.graph, chosen.shape[1])[document, None, None]
        keys += self.pointer.keys.index_select(0, document)
        if chosen.shape[1] > 0:
            keys += select_sentences(self.tables.last, document, chosen[:, -1])
        if chosen.shape[1] > 1:
            keys += select_sentences(self.tables.before_last, document, chosen[:, -2])
        return self.decoder.attend_in_place(carry.pointer.hidden, keys)
