"""Pointer network: an LSTM reads the order so far and points at the next sentence (Lai et al., 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, cast

import torch
from annotated_types import Ge
from torch import Tensor, nn

from unshuffle.decode.contracts import GivenOrders, Gold, decoders
from unshuffle.decode.search import Stepwise, TensorMemory, TensorPrefix, beam_search, content_ranks, select_sentences
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.products import Linear, Product
from unshuffle.layers.recurrence import Packing, lstm_states
from unshuffle.layers.segments import pad_documents, select_rows
from unshuffle.machine import single
from unshuffle.parts.registry import PartConfig
from unshuffle.search.beam import FEW
from unshuffle.search.contracts import Found, Search

LARGEST = 20.0
"""Larger queries and keys go through tanh itself; single precision overflows at exp(88)."""
CACHED = 1 << 17
"""Numbers per block of the attention, few enough to stay in the CPU's cache."""


@dataclass(frozen=True, kw_only=True)
class PointerConfig(PartConfig):
    """Pointer decoder; its LSTM is as wide as the document state."""

    attention_width: Annotated[int, Ge(0)] = 0
    """Width of the attention's hidden layer; 0 takes the width of the sentence states."""


@decoders.register("pointer", PointerConfig)
class Pointer(Stepwise):
    """Starts from the document state; keys are [encoder vector; state], inputs are encoder vectors."""

    def __init__(self, config: PointerConfig, *, width: int, encoded_width: int, pair_width: int = 0) -> None:
        super().__init__()
        attention = config.attention_width or width
        self.lstm = nn.LSTM(encoded_width, width)
        self.key = Linear(encoded_width + width, attention)
        self.query = Linear(width, attention)
        self.score = nn.Linear(attention, 1)
        self.from_input, self.from_state = Product(), Product()  # of the LSTM's two matrices

    def keys(self, states: States) -> Tensor:
        """(sentences, attention)."""
        keys: Tensor = self.key(torch.cat([states.encoded.sentences, states.sentences], 1))
        return keys

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Log-probability of each choice of a given order."""
        given = GivenOrders.of(graph, gold)
        options = given.options()
        query = self.query(self.follow(states, graph, given.order))
        keys = select_rows(self.keys(states), given.order)
        # (options, attention)
        mixed = torch.tanh(select_rows(query, options.choice) + select_rows(keys, options.position))
        return options.log_probabilities(self.score(mixed).squeeze(-1))

    def attend(self, hidden: Tensor, keys: Tensor) -> Tensor:
        """(rows, width), (rows, longest, attention) -> (rows, longest) score of each sentence as the next."""
        logits: Tensor = self.score(torch.tanh(self.query(hidden)[:, None] + keys)).squeeze(-1)
        return logits

    @torch.no_grad()
    def attend_in_place(self, hidden: Tensor, keys: Tensor) -> Tensor:
        """`attend` at half its cost: overwrites the keys, with tanh(x) = 2 sigmoid(2x) - 1."""
        weight = self.score.weight[0]
        mixed = keys.add_(self.query(hidden)[:, None]).mul_(2).sigmoid_()
        logits: Tensor = (mixed @ weight).mul_(2).add_(self.score.bias - weight.sum())
        return logits

    def loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Negative log-likelihood of the true order, per document."""
        return -self.transitions(states, graph, gold).sum() / graph.documents

    def search(self, states: States, graph: GraphBatch, search: Search) -> list[Found]:
        """Beam search over all documents at once."""
        return beam_search(self.memory(states, graph), graph.sizes, search, content_ranks(states, graph))

    def memory(self, states: States, graph: GraphBatch) -> TensorMemory[Any]:
        """Everything that does not depend on what has been chosen."""
        return PointerMemory(self, states, graph)

    def follow(self, states: States, graph: GraphBatch, order: Tensor) -> Tensor:
        """(sentences, width): the LSTM's state before each choice of a given order.

        Zeros before the last one, where only one sentence is left.
        """
        vectors = select_rows(states.encoded.sentences, order)
        first = graph.first_sentence
        inputs = torch.cat([vectors.new_zeros(1, vectors.shape[1]), vectors[:-1]])
        inputs = inputs.index_fill(0, first, 0.0)  # nothing is read before the first choice
        packing = Packing.of((graph.sizes - 1).clamp_min(1), first)
        read = lstm_states(
            self.lstm, select_rows(inputs, packing.forward), select_rows(states.documents, packing.order), packing
        )
        return read.new_zeros(len(order), read.shape[1]).index_copy(0, packing.forward, read)


@dataclass(frozen=True, slots=True)
class Carry:
    """The recurrent state of each partial order."""

    hidden: Tensor  # (rows, width)
    cell: Tensor  # (rows, width)


class PointerMemory:
    """Keys and the input half of the LSTM's gates, computed once per sentence."""

    def __init__(self, pointer: Pointer, states: States, graph: GraphBatch) -> None:
        self.pointer = pointer
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        from_input, recurrent, *biases = (cast(Tensor, getattr(pointer.lstm, name)) for name in names)
        self.recurrent = recurrent
        self.bias = biases[0] + biases[1]
        self.inputs = pad_documents(pointer.from_input(states.encoded.sentences, from_input, self.bias), graph)
        self.keys = pad_documents(pointer.keys(states), graph)
        self.documents = states.documents
        self._attention = PointerAttention(pointer, self.keys)

    def begin(self) -> Carry:
        """Before any sentence: the input is zero, the state the document's."""
        gates = self.pointer.from_state(self.documents, self.recurrent, self.bias)
        return _lstm_step(gates, torch.zeros_like(self.documents))

    def advance(self, carry: Carry, parent: Tensor, document: Tensor, choice: Tensor) -> Carry:
        """Children of one parent share its recurrent product."""
        hidden, which = carry.hidden, parent
        if len(hidden) > FEW:  # else leaving out those without children costs more than it saves
            parents, which = torch.unique(parent, return_inverse=True)
            hidden = select_rows(hidden, parents)
        recurrent = self.pointer.from_state(hidden, self.recurrent)
        gates = select_sentences(self.inputs, document, choice) + select_rows(recurrent, which)
        return _lstm_step(gates, select_rows(carry.cell, parent))

    def logits(self, carry: Carry, prefix: TensorPrefix) -> Tensor:
        """(rows, longest)."""
        return self._attention(carry.hidden, prefix.document)


class PointerAttention:
    """`Pointer.attend` for many partial orders of the same sentences, without a tanh for each pair of them.

    tanh(q + k) = 1 - 2 / (1 + exp(2q) exp(2k)): exponentials are computed once per sentence and once per partial order,
    which leaves a product and a quotient per pair.
    """

    def __init__(self, pointer: Pointer, keys: Tensor) -> None:
        (keys,) = single(keys)
        self.pointer = pointer
        self.keys = keys  # (documents, longest, attention)
        self.exponentials = (2 * keys).exp_() if _safe_to_exponentiate(keys) else None
        self.one = keys.new_ones(())
        self.weight = pointer.score.weight[0].detach()
        self.most = self.weight.sum() + pointer.score.bias.detach()  # the score where every tanh is 1

    @torch.no_grad()
    def __call__(self, hidden: Tensor, document: Tensor) -> Tensor:
        """(rows, width), (rows,) -> (rows, longest)."""
        (query,) = single(self.pointer.query(hidden))
        if self.exponentials is None or not _safe_to_exponentiate(query):
            return self.pointer.attend(hidden, self.keys.index_select(0, document))
        query.mul_(2).exp_()
        longest, width = self.keys.shape[1:]
        deficit = query.new_empty(len(query), longest)  # weighted sum of (1 - tanh) / 2
        size = max(1, CACHED // (longest * width))
        for rows in range(0, len(query), size):
            pairs = self.exponentials.index_select(0, document[rows : rows + size])
            pairs = torch.addcmul(self.one, pairs, query[rows : rows + size, None], out=pairs).reciprocal_()
            torch.mv(pairs.view(-1, width), self.weight, out=deficit[rows : rows + size].view(-1))
        logits: Tensor = deficit.mul_(-2).add_(self.most)
        return logits


def _safe_to_exponentiate(values: Tensor) -> bool:
    """Whether exponentials of two such values, and their product, neither vanish nor overflow."""
    if values.numel() == 0:
        return True
    least, most = values.detach().aminmax()
    return float(least) >= -LARGEST and float(most) <= LARGEST


def _lstm_step(gates: Tensor, cell: Tensor) -> Carry:
    """With tanh(x) = 2 sigmoid(2x) - 1, cheaper than torch's own."""
    into, forget, _, out = gates.sigmoid().chunk(4, 1)
    width = cell.shape[1]
    candidate = (2 * gates[:, 2 * width : 3 * width]).sigmoid()
    cell = torch.addcmul(forget * cell - into, into, candidate, value=2)
    return Carry(torch.addcmul(-out, out, (2 * cell).sigmoid(), value=2), cell)
