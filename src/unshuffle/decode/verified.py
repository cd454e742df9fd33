"""Any step-by-step decoder, its partial orders re-ranked by a coherence verifier (Jia et al., 2023: CoVer).

Paper and released program leave the baseline's weights alone and train the verifier on texts made worse swap by swap;
so does this part, whose verifier learns beside the baseline from vectors that its loss does not change. Theirs has two
encoders of its own, one of sentences and one of the text so far; here sentence vectors are the baseline's, and the
document is the mean of its sentences. Each choice then adds to the verifier's sum, and nothing is read twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic

import torch
from annotated_types import Ge, Gt, Lt
from torch import Tensor, nn

from unshuffle.decode.contracts import Choices, Decoder, Gold, decoders
from unshuffle.decode.search import (
    State,
    Stepwise,
    TensorMemory,
    TensorPrefix,
    beam_search,
    content_ranks,
    select_sentences,
    with_first,
)
from unshuffle.encoders.contracts import States
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import pad_documents, scatter_sum, sentence_mask
from unshuffle.machine import single
from unshuffle.parts.registry import PartConfig
from unshuffle.search.contracts import Found, Search

KIND = "verified"
NEXT, LATER, FROM_DOCUMENT = range(3)
"""Relations: from a sentence to the next one, to any after that, and from the document to its sentences."""


@dataclass(frozen=True, kw_only=True)
class VerifiedConfig(PartConfig):
    """Verifier and the decoder that it is plugged into; the defaults are the released program's."""

    base: dict[str, Any] = field(default_factory=lambda: {"kind": "pointer"})
    """The decoder whose partial orders are re-ranked, as a table of its own."""
    width: Annotated[int, Ge(1)] = 200
    bases: Annotated[int, Ge(1)] = 2
    """Number of matrices of which each relation's is a mixture."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    margin: Annotated[float, Gt(0)] = 0.1
    """By how much the share of the better of two orders should be the larger one."""
    probability_weight: Annotated[float, Gt(0)] = 0.1
    """Weight of the baseline's log-probability beside coherence; 0.1 is the released value for ROCStories."""

    def __post_init__(self) -> None:
        """Refuses what cannot be re-ranked before anything is built of it."""
        kind = str(self.base.get("kind"))
        base = None if kind == KIND else decoders.read(dict(self.base))
        if base is None or not issubclass(decoders.part(base), Stepwise) or base.source:
            raise ConfigError(f"decoder.base: '{kind}' cannot be re-ranked. Use pointer or future_history.")


class Layer(nn.Module):
    """h' = relu(W h + sum over relations of the mean of W_r h_j): every edge leads forwards."""

    def __init__(self, before: int, width: int, bases: int, *, document: bool) -> None:
        super().__init__()
        self.bases = bases
        self.own = nn.Linear(before, width)
        self.basis = nn.Linear(before, bases * width, bias=False)
        self.mixture = nn.Parameter(torch.empty(FROM_DOCUMENT + document, bases))
        nn.init.xavier_uniform_(self.mixture)

    def related(self, states: Tensor, relation: int) -> Tensor:
        """(..., before) -> (..., width) what a node says along a relation."""
        said = self.basis(states).unflatten(-1, (self.bases, -1))
        heard: Tensor = torch.einsum("...bw,b->...w", said, self.mixture[relation].to(said.dtype))
        return heard


@dataclass(frozen=True, slots=True)
class Heard:
    """What a sentence that is put next will hear in one layer, one row per partial order."""

    last: Tensor  # (rows, width) along NEXT, from the last sentence so far
    waiting: Tensor  # (rows, width) what that one will say along LATER
    earlier: Tensor  # (rows, width) sum along LATER of all before it

    def of(self, parent: Tensor) -> Heard:
        """The rows of some parents."""
        return Heard(self.last[parent], self.waiting[parent], self.earlier[parent])

    def after(self, layer: Layer, state: Tensor) -> Heard:
        """Once a sentence of this state, (rows, width), is the last one."""
        return Heard(layer.related(state, NEXT), layer.related(state, LATER), self.earlier + self.waiting)

    def mean(self, steps: int) -> Tensor:
        """(rows, width) after `steps` choices."""
        return self.last + self.earlier / max(steps - 1, 1)


@dataclass(frozen=True, slots=True)
class VerifiedCarry(Generic[State]):
    """The baseline's state, what each layer has said, and the verifier's sum so far."""

    base: State
    steps: int
    first: Heard
    second: Heard
    total: Tensor  # (rows,)


class Verifier(nn.Module):
    """Two layers over the sentences in a given order; coherence is a linear function of the sum of their states."""

    def __init__(self, config: VerifiedConfig, *, width: int) -> None:
        super().__init__()
        self.first = Layer(width, config.width, config.bases, document=True)
        self.second = Layer(config.width, config.width, config.bases, document=False)
        self.score = nn.Linear(config.width, 1)
        self.dropout = Dropout(config.dropout)

    def forward(self, sentences: Tensor, document: Tensor, there: Tensor) -> Tensor:
        """(rows, longest, input) in the order to be judged, (rows, input), (rows, longest) -> (rows,)."""
        heard = self.first.related(document, FROM_DOCUMENT)[:, None] + self.first.own(sentences)
        states = self.dropout((heard + _along(self.first, sentences)).relu())
        states = self.dropout((self.second.own(states) + _along(self.second, states)).relu())
        coherence: Tensor = self.score((states * there[..., None]).sum(1)).squeeze(-1)
        return coherence


def _along(layer: Layer, states: Tensor) -> Tensor:
    """(rows, longest, width) what each position hears from the one before it, and on average from all before that."""
    last = nn.functional.pad(layer.related(states, NEXT), (0, 0, 1, 0))[:, :-1]
    sums = nn.functional.pad(layer.related(states, LATER).cumsum(1), (0, 0, 2, 0))[:, :-2]
    count = torch.arange(-1, states.shape[1] - 1, device=states.device).clamp_min(1)
    return last + sums / count[:, None]


@decoders.register(KIND, VerifiedConfig)
class Verified(Stepwise):
    """Partial orders are ranked by weight × log-probability + coherence, summed over their choices as released.

    An order's probability is the baseline's: coherence only decides which order comes first.
    """

    def __init__(self, config: VerifiedConfig, *, width: int, encoded_width: int, pair_width: int = 0) -> None:
        super().__init__()
        self.config = config
        sizes = {"width": width, "encoded_width": encoded_width, "pair_width": pair_width}
        self.base: Decoder = decoders.build(decoders.read(dict(config.base)), **sizes)
        self.order_sensitive = self.base.order_sensitive
        self.verifier = Verifier(config, width=encoded_width)

    def loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """The baseline's loss plus the verifier's: of two orders the less disturbed is the more coherent."""
        loss: Tensor = self.base.loss(states, graph, gold)
        return loss + self.verifier_loss(states, graph, gold)

    def verifier_loss(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Mean over documents of the margin losses between the true order and two that were made worse by degrees."""
        vectors = pad_documents(states.encoded.sentences.detach(), graph)
        document = vectors.sum(1) / graph.sizes[:, None]
        orders = [disturbed(size, self._generator(size)) for size in graph.sizes.tolist()]
        true = pad_documents(gold.flat_order(graph)[:, None], graph).squeeze(-1) - graph.first_sentence[:, None]
        there = sentence_mask(graph)
        found = []
        for degree in range(3):
            moved = torch.zeros_like(true)
            for row, some in enumerate(orders):
                moved[row, : len(some[degree])] = torch.tensor(some[degree], device=true.device)
            order = true.gather(1, moved).clamp_min(0)
            ordered = vectors.gather(1, order[..., None].expand_as(vectors))
            found.append(self.verifier(ordered, document, there))
        worse = torch.tensor([[len(set(some)) > 1, some[1] != some[2]] for some in orders], device=true.device)
        pairs = ((0, 1, worse[:, 0]), (0, 2, worse[:, 0]), (1, 2, worse[:, 1]))
        missed = [(self.config.margin - ((found[a] - found[b]) / 2).tanh()).relu() * differs for a, b, differs in pairs]
        return torch.stack(missed).sum() / (3 * graph.documents)

    def _generator(self, size: int) -> torch.Generator | None:
        """Chance in training; a loss that is only looked at depends on the documents alone."""
        return None if self.training else torch.Generator().manual_seed(size)

    def loss_units(self, sizes: Sequence[int]) -> int:
        """The baseline's."""
        return self.base.loss_units(sizes)

    def transitions(self, states: States, graph: GraphBatch, gold: Gold) -> Tensor:
        """Log-probability of each choice of a given order, by the baseline."""
        return self.base.transitions(states, graph, gold)

    def choices(self, states: States, graph: GraphBatch) -> Choices:
        """The baseline's."""
        return self.base.choices(states, graph)

    def memory(self, states: States, graph: GraphBatch) -> VerifiedMemory[Any]:
        """The baseline's, and what the verifier knows beforehand."""
        assert isinstance(self.base, Stepwise)
        return VerifiedMemory(self, self.base.memory(states, graph), states, graph)

    def search(self, states: States, graph: GraphBatch, search: Search) -> list[Found]:
        """The order that re-ranking puts first; further ones by probability."""
        memory = self.memory(states, graph)
        found = beam_search(memory, graph.sizes, search, content_ranks(states, graph), normalised=False)
        most = max(len(some.orders) for some in found)
        values = []
        for rank in range(most):
            orders = [some.orders[min(rank, len(some.orders) - 1)] for some in found]
            steps = self.transitions(states, graph, Gold.of(orders).to(graph.sizes.device))
            values.append(scatter_sum(steps.detach().double(), graph.document_of_sentence, graph.documents).tolist())
        results = []
        for document, some in enumerate(found):
            known = [(order, values[rank][document]) for rank, order in enumerate(some.orders)]
            others = sorted(known[1:], key=lambda row: -row[1])
            rest = Found(tuple(order for order, _ in others), tuple(value for _, value in others))
            results.append(with_first(*known[0], rest, search.keep))
        return results


class VerifiedMemory(Generic[State]):
    """What the sentences are in the first layer, computed once; a step adds what each candidate would hear."""

    def __init__(self, decoder: Verified, base: TensorMemory[State], states: States, graph: GraphBatch) -> None:
        self.verifier, self.weight, self.base = decoder.verifier, decoder.config.probability_weight, base
        self.vectors = pad_documents(states.encoded.sentences.detach(), graph)  # (documents, longest, input)
        document = self.vectors.sum(1) / graph.sizes[:, None]
        first = self.verifier.first
        (self.own,) = single(first.own(self.vectors) + first.related(document, FROM_DOCUMENT)[:, None])
        self.there = sentence_mask(graph)

    def begin(self) -> VerifiedCarry[State]:
        """Nothing has been said."""
        nothing = self.own.new_zeros(len(self.own), self.own.shape[-1])
        heard = Heard(nothing, nothing, nothing)
        return VerifiedCarry(self.base.begin(), 0, heard, heard, self.verifier.score.bias.expand(len(nothing)))

    @torch.no_grad()
    def advance(
        self, carry: VerifiedCarry[State], parent: Tensor, document: Tensor, choice: Tensor
    ) -> VerifiedCarry[State]:
        """The chosen sentence is the last one now."""
        first, second = carry.first.of(parent), carry.second.of(parent)
        state = (select_sentences(self.own, document, choice) + first.mean(carry.steps)).relu()
        above = (self.verifier.second.own(state) + second.mean(carry.steps)).relu()
        return VerifiedCarry(
            self.base.advance(carry.base, parent, document, choice),
            carry.steps + 1,
            first.after(self.verifier.first, select_sentences(self.vectors, document, choice)),
            second.after(self.verifier.second, state),
            carry.total[parent] + self._worth(above),
        )

    @torch.no_grad()
    def logits(self, carry: VerifiedCarry[State], prefix: TensorPrefix) -> Tensor:
        """(rows, longest) what each sentence as the next one adds; coherence counts from the second one on."""
        left = self.there[prefix.document].scatter(1, prefix.chosen, False)
        likely = self.base.logits(carry.base, prefix).masked_fill(~left, -torch.inf)
        likely = torch.log_softmax(single(likely)[0], 1).masked_fill(~left, -torch.inf)
        if not carry.steps:
            return self.weight * likely
        states = (self.own.index_select(0, prefix.document) + carry.first.mean(carry.steps)[:, None]).relu()
        states = (self.verifier.second.own(states) + carry.second.mean(carry.steps)[:, None]).relu()
        return self.weight * likely + (carry.total[:, None] + self._worth(states)).sigmoid()

    def _worth(self, states: Tensor) -> Tensor:
        """(..., width) -> (...) what a sentence adds to the verifier's sum."""
        return single(states)[0] @ self.verifier.score.weight[0]


def disturbed(size: int, generator: torch.Generator | None) -> tuple[tuple[int, ...], ...]:
    """Three orders of `size` positions: as they are, after some swaps of two, and after more; none is swapped twice.

    The released data leave documents below four sentences and the last two positions alone, which looks accidental.
    """
    most = size // 2
    positions = torch.randperm(size, generator=generator).tolist()
    some, more = sorted((torch.randperm(most, generator=generator)[:2] + 1).tolist()) if most > 1 else (most, most)
    found = []
    for swaps in (0, some, more):
        order = list(range(size))
        for one, other in zip(positions[: 2 * swaps : 2], positions[1 : 2 * swaps : 2], strict=True):
            order[one], order[other] = order[other], order[one]
        found.append(tuple(order))
    return tuple(found)
