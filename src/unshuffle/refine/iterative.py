"""Algorithm 1: sure pairs settle first and help to settle the others (Lai et al., 4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal

import torch
from annotated_types import Ge, Gt, Le, Lt
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, SentenceEncoder
from unshuffle.encoders.paragraph.grn import GRN, GRNConfig
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import Batch, GraphBatch, Selection, select
from unshuffle.refine.classifier import PairClassifier, PairHead, normalised, undecided_weights
from unshuffle.seeds import drawn_from


@dataclass(frozen=True, slots=True)
class RoundTrace:
    """Weights of all pairs after a round, and which are still undecided."""

    weights: Tensor  # (pairs,)
    undecided: Tensor  # (pairs,)
    active: Tensor  # (documents,) whether the round changed this document's weights


@dataclass(frozen=True, slots=True)
class Refined:
    """The final link weights and how they came about."""

    weights: Tensor  # (pairs,)
    predicted: Tensor  # (pairs,) last probability of each pair, decided or not
    rounds: tuple[RoundTrace, ...]


@dataclass(frozen=True, kw_only=True)
class IterativeConfig:
    """The refiner: an initial and an iterative classifier over the same kind of graph network."""

    encoder: Literal["own", "shared"] = "own"
    """`own`: each classifier has a sentence encoder, as in the paper; `shared`: both use the ordering model's."""
    grn: GRNConfig = field(default_factory=GRNConfig)
    head_width: Annotated[int, Ge(0)] = 0
    """Width of the head's hidden layers; 0 takes the width of the sentence states."""
    head_dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    unsure_from: Annotated[float, Ge(0), Le(0.5)] = 0.2
    unsure_to: Annotated[float, Ge(0.5), Le(1)] = 0.8
    """A pair whose probability lies in this band, both ends included, is undecided."""
    rounds: Annotated[int, Ge(0)] | None = None
    """At most this many rounds of the iterative classifier; None goes on until nothing changes."""
    tuned: bool = False
    """Whether the temperature of both classifiers and the number of rounds, none among them, are chosen on validation
    once they are trained; `rounds` is then the most that may be chosen."""
    initial: bool = True
    """Whether the initial classifier speaks first; without it all pairs start undecided."""
    settled: Literal["keep", "snap"] = "keep"
    """Weights of sure pairs: their probability, as in the paper, or 0.99 / 0.01, as released."""
    leftover: Literal["half", "raw"] = "half"
    """Weights of pairs never decided: 0.5, as in the paper, or the last probability, as released."""
    learns_from: Literal["noise", "predictions"] = "noise"
    """What the iterative classifier learns from: true weights with noise, as in the paper; or what the initial one says
    of each document, as it will find it later. With its own encoder it then begins as a copy of the initial one."""
    known_weight: Annotated[float, Gt(0.5), Le(1)] = 0.99
    """The weight of a true pair when the iterative classifier is trained."""
    noise_share: Annotated[float, Ge(0), Le(1)] | Literal["auto"] = 0.2
    """Share of pairs with a wrong weight in training; `auto`: the initial classifier's error on validation."""
    mask_share: Annotated[float, Ge(0), Le(1)] = 0.3
    """Share of pairs hidden as 0.5 in training."""


class Refiner(nn.Module):
    """Two classifiers, trained one after the other before the ordering model."""

    def __init__(
        self,
        config: IterativeConfig,
        *,
        encoders: tuple[SentenceEncoder | None, SentenceEncoder | None],
        width: int,
        entity_input: int,
    ) -> None:
        super().__init__()
        self.config = config
        if config.learns_from == "predictions" and not (config.initial and config.rounds != 0):
            raise ConfigError("refiner.learns_from: predictions need both classifiers. Say noise, or leave both in.")

        # A seed each: one starts the same whether or not there is the other.
        seed = int(torch.randint(2**62, (), device="cpu"))  # also where the parts themselves are on another device

        def classifier(part: str, encoder: SentenceEncoder | None) -> PairClassifier:
            with drawn_from(seed, part):
                grn = GRN(config.grn, width=width, entity_input=entity_input)
                head = PairHead(width=width, hidden=config.head_width or width, dropout=config.head_dropout)
                return PairClassifier(encoder, grn, head)

        self.initial = classifier("initial", encoders[0]) if config.initial else None
        self.iterative = classifier("iterative", encoders[1]) if config.rounds != 0 else None
        if config.tuned:  # saved with the weights
            self.register_buffer("chosen", torch.tensor([1.0, -1.0]))  # temperature; rounds, -1 for no limit
            self.chosen: Tensor

    @property
    def rounds(self) -> int | None:
        """At most this many rounds; None for no limit."""
        if self.config.tuned and float(self.chosen[1]) >= 0:
            return int(self.chosen[1])
        return self.config.rounds

    def tune(self, temperature: float, rounds: int | None) -> None:
        """Sets what was chosen on validation."""
        self.chosen.copy_(torch.tensor([temperature, -1.0 if rounds is None else float(rounds)]))

    def tempered(self, predicted: Tensor) -> Tensor:
        """Probabilities after the temperature, before thresholds look at them."""
        if not self.config.tuned:
            return predicted
        return (torch.logit(predicted, eps=1e-6) / self.chosen[0]).sigmoid()

    def forward(self, batch: Batch, shared: Encoded | None = None) -> Refined:
        """Both classifiers in turn; `shared` are the ordering model's vectors, read where encoders are shared."""
        graph = batch.graph
        predicted = self.tempered(self.first_answer(batch, shared))
        weights, undecided = self.settled(predicted)
        everyone = torch.ones(graph.documents, dtype=torch.bool, device=weights.device)
        rounds = [RoundTrace(weights, undecided, everyone)]
        if self.iterative is not None and undecided.any():
            encoded = self.iterative.encode(batch, shared)
            predicted = self._iterate(self.iterative, encoded, graph, predicted, rounds)
        final = rounds[-1]
        weights = final.weights
        if self.config.leftover == "raw":
            weights = torch.where(final.undecided, predicted, weights)
        return Refined(weights, predicted, tuple(rounds))

    def sentence_encoders(self) -> Iterator[SentenceEncoder]:
        """Those of the classifiers that have one of their own."""
        for classifier in (self.initial, self.iterative):
            if classifier is not None and classifier.sentence_encoder is not None:
                yield classifier.sentence_encoder

    def first_answer(self, batch: Batch, shared: Encoded | None = None) -> Tensor:
        """(pairs,) the initial classifier's probability that a pair's first sentence comes first; 0.5 without one."""
        if self.initial is None:
            return undecided_weights(batch.graph)
        return self.initial.probabilities(self.initial.encode(batch, shared), batch.graph)

    def _iterate(
        self,
        classifier: PairClassifier,
        encoded: Encoded,
        graph: GraphBatch,
        predicted: Tensor,
        rounds: list[RoundTrace],
    ) -> Tensor:
        """Rounds until no document's undecided set shrinks; what the words say is computed once for all rounds."""
        start = classifier.grn.start(encoded, graph)
        document_of_pair = graph.document_of_sentence[graph.pairs[0]]
        weights, undecided = rounds[0].weights, rounds[0].undecided
        limit = self.rounds
        while limit is None or len(rounds) <= limit:
            left = torch.bincount(document_of_pair[undecided], minlength=graph.documents)
            shrank = (
                left < torch.bincount(document_of_pair[rounds[-2].undecided], minlength=graph.documents)
                if len(rounds) > 1
                else torch.ones_like(left, dtype=torch.bool)
            )
            active = (left > 0) & shrank
            if not active.any():
                break
            part = select(graph, active)
            states = classifier.grn.finish(
                start.select(part.sentences, part.entities, active),
                _selected_encoded(encoded, part),
                part.graph,
                weights[part.pairs],
            )
            fresh = self.tempered(normalised(classifier.head(states.sentences, part.graph.pairs)))
            asked = undecided[part.pairs]
            predicted = predicted.index_copy(0, part.pairs, torch.where(asked, fresh, predicted[part.pairs]))
            undecided = undecided & self._unsure(predicted)
            weights = self.settle(predicted, undecided)
            rounds.append(RoundTrace(weights, undecided, active))
        return predicted

    def settled(self, predicted: Tensor) -> tuple[Tensor, Tensor]:
        """(pairs,) link weights as some probabilities leave them, and which pairs are undecided."""
        undecided = self._unsure(predicted)
        return self.settle(predicted, undecided), undecided

    def _unsure(self, predicted: Tensor) -> Tensor:
        return (self.config.unsure_from <= predicted) & (predicted <= self.config.unsure_to)

    def settle(self, predicted: Tensor, undecided: Tensor) -> Tensor:
        """(pairs,) link weights: what is sure as the config wants it written, what is not at 0.5."""
        sure = predicted
        if self.config.settled == "snap":
            sure = torch.where(predicted > 0.5, self.config.known_weight, 1 - self.config.known_weight)
        return torch.where(undecided, 0.5, sure)


def _selected_encoded(encoded: Encoded, part: Selection) -> Encoded:
    return Encoded(encoded.sentences[part.sentences], encoded.entities[part.entities])
