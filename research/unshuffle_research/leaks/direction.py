"""The released IRSE-GRN program asks its iterative classifier in the true direction only; this does so on purpose.

For a pair whose sentence a truly comes before b, only f(a, b) is computed, the probability becomes
f / (f + (1 - start)), where `start` is the initial classifier's value and is never refreshed, and accuracy is the
share of these above 0.5. f(b, a) is never asked. A classifier that always says yes is right on every pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unshuffle.encoders.contracts import Encoded
from unshuffle.encoders.paragraph.grn import Start
from unshuffle.graph.batch import Batch, GraphBatch
from unshuffle.refine.classifier import normalised
from unshuffle.refine.iterative import Refiner


@dataclass(frozen=True)
class Case:
    """A document whose true order is known, read by both classifiers once for all ways of asking."""

    refiner: Refiner
    graph: GraphBatch
    truth: Tensor  # (pairs,) whether a pair's first sentence by input truly comes first
    start: Tensor  # (pairs,) the initial classifier's probability of the true direction
    encoded: Encoded  # the iterative classifier's vectors
    words: Start

    @classmethod
    def of(cls, refiner: Refiner, batch: Batch, shared: Encoded | None, truth: Tensor) -> Case:
        """Asks the initial classifier, fairly, in both directions."""
        assert refiner.initial is not None and refiner.iterative is not None
        initial = refiner.first_answer(batch, shared)
        encoded = refiner.iterative.encode(batch, shared)
        words = refiner.iterative.grn.start(encoded, batch.graph)
        return cls(refiner, batch.graph, truth, _turned(initial, truth), encoded, words)

    def logits(self, weights: Tensor) -> Tensor:
        """(2, pairs) The iterative classifier on both directions under these link weights, oriented by the input."""
        assert self.refiner.iterative is not None
        states = self.refiner.iterative.grn.finish(self.words, self.encoded, self.graph, weights)
        logits: Tensor = self.refiner.iterative.head(states.sentences, self.graph.pairs)
        return logits

    def unsure(self, predicted: Tensor) -> Tensor:
        """Pairs within the band of Algorithm 1."""
        return (self.refiner.config.unsure_from <= predicted) & (predicted <= self.refiner.config.unsure_to)


@dataclass(frozen=True)
class Refined:
    """Link weights of one document, and by what they were scored."""

    predicted: Tensor  # (pairs,) last probability of the true direction, decided or not
    half: Tensor  # (pairs,) weights by input; pairs that stay unsure at 0.5, as in the paper
    raw: Tensor  # (pairs,) the same; unsure pairs keep their last probability, as in the released program


def refined(case: Case, *, told: bool, bias: float = 0.0) -> Refined:
    """Algorithm 1 on one document, with the true direction given away (`told`) or as it is written.

    `bias` is added to every logit of the iterative classifier.
    """
    predicted, undecided = case.start, case.unsure(case.start)
    left = -1
    while undecided.any() and int(undecided.sum()) != left:
        left = int(undecided.sum())
        logits = case.logits(_turned(case.refiner.settle(predicted, undecided), case.truth)) + bias
        if told:
            yes = torch.where(case.truth, logits[0], logits[1]).sigmoid()
            fresh = yes / (yes + 1 - case.start)
        else:
            fresh = _turned(normalised(logits), case.truth)
        predicted = torch.where(undecided, fresh, predicted)
        undecided = undecided & case.unsure(predicted)
    half = case.refiner.settle(predicted, undecided)
    raw = torch.where(undecided, predicted, half)
    return Refined(predicted, _turned(half, case.truth), _turned(raw, case.truth))


def _turned(probability: Tensor, truth: Tensor) -> Tensor:
    """From the direction of the input to the true one, and back."""
    return torch.where(truth, probability, 1 - probability)
