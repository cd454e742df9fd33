"""The stages that train the refiner's two classifiers, and the link weights that these give (Lai et al., 4.2)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from unshuffle.decode.contracts import Gold
from unshuffle.graph.batch import Batch
from unshuffle.graph.prepare import Item
from unshuffle.machine import device_of
from unshuffle.refine.classifier import Corrupted, PairClassifier, corrupt, undecided_weights
from unshuffle.refine.iterative import Refiner
from unshuffle.seeds import derived
from unshuffle.training.loop import Drawn, draw
from unshuffle.training.processes import divided, rank, ranks, summed

TEMPERATURES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0)
LIMITS: tuple[int | None, ...] = (0, 1, 2, 3, None)
"""Rounds to choose from; None goes on until nothing changes."""


def pair_truth(batch: Batch, gold: Gold) -> Tensor:
    """(pairs,) 1 where a linked pair's first sentence truly comes first, else 0."""
    first, second = gold.position[batch.graph.pairs]
    truth: Tensor = (first < second).float()
    return truth


def both_ways(logits: Tensor, truth: Tensor, among: Tensor | None = None) -> Tensor:
    """Mean cross-entropy over both directions of some pairs; nothing where there are none."""
    if among is not None:
        logits, truth = logits[:, among], truth[among]
    if not truth.numel():
        return logits.sum() * 0
    return binary_cross_entropy_with_logits(logits, torch.stack([truth, 1 - truth]))


def linked_pairs(items: Sequence[Item]) -> int:
    """How many linked pairs some documents have."""
    return sum(item.graph.pairs.shape[1] for item in items)


def training_weights(
    refiner: Refiner, drawn: Drawn, truth: Tensor, noise_share: float, predicted: Callable[[], Tensor]
) -> tuple[Corrupted, int]:
    """Link weights to teach the iterative classifier by, and how many do not tell the truth in all processes.

    True ones, some of them hidden or wrong, or those that the initial classifier leaves: it has `predicted` the pairs.
    """
    config = refiner.config
    if config.learns_from == "noise":
        return _corrupted(
            drawn, truth, known=config.known_weight, noise_share=noise_share, mask_share=config.mask_share
        )
    weights, undecided = refiner.settled(predicted())
    return Corrupted(weights, undecided), round(summed([float(undecided.sum())])[0])


def _corrupted(
    drawn: Drawn, truth: Tensor, *, known: float, noise_share: float, mask_share: float
) -> tuple[Corrupted, int]:
    """Chance is drawn for all of them in each process, so that a pair's weight does not depend on who has it."""
    generator = torch.Generator().manual_seed(drawn.seed)
    here = slice(0, len(truth))
    if drawn.whole is not None:
        before = linked_pairs(drawn.whole.items[: drawn.first])
        here = slice(before, before + len(truth))
        everywhere = truth.new_zeros(linked_pairs(drawn.whole.items))
        everywhere[here] = truth
        truth = everywhere
    found = corrupt(truth, known=known, noise_share=noise_share, mask_share=mask_share, generator=generator)
    return Corrupted(found.weights[here], found.changed[here]), int(found.changed.sum())


class InitialTask(nn.Module):
    """Every linked pair, all link weights at 0.5."""

    def __init__(self, classifier: PairClassifier) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(self, batch: Batch, gold: Gold, drawn: Drawn) -> Tensor:
        """Cross-entropy over all linked pairs."""
        truth, weights = pair_truth(batch, gold), undecided_weights(batch.graph)
        loss = both_ways(self.classifier(self.classifier.encode(batch, None), batch.graph, weights), truth)
        return drawn.weighed(loss, len(truth), linked_pairs((drawn.whole or drawn).items))


class IterativeTask(nn.Module):
    """Every linked pair, the link weights true, hidden or wrong, or as the initial classifier leaves them."""

    def __init__(self, refiner: Refiner, noise_share: float) -> None:
        super().__init__()
        assert refiner.iterative is not None
        self.classifier = refiner.iterative
        self._refiner = (refiner,)  # in a tuple, so that the initial classifier is no part of what is trained
        self.noise_share = noise_share

    def forward(self, batch: Batch, gold: Gold, drawn: Drawn) -> Tensor:
        """Pairs whose weight does not tell the truth count as much as all that do."""
        (refiner,) = self._refiner
        truth = pair_truth(batch, gold)
        corrupted, changed = training_weights(
            refiner, drawn, truth, self.noise_share, lambda: _first_answer(refiner, batch)
        )
        logits = self.classifier(self.classifier.encode(batch, None), batch.graph, corrupted.weights)
        here, pairs = int(corrupted.changed.sum()), linked_pairs((drawn.whole or drawn).items)
        wrong = drawn.weighed(both_ways(logits, truth, corrupted.changed), here, changed)
        return wrong + drawn.weighed(both_ways(logits, truth, ~corrupted.changed), len(truth) - here, pairs - changed)


@torch.no_grad()
def _first_answer(refiner: Refiner, batch: Batch) -> Tensor:
    """(pairs,) the initial classifier's, computed as in inference."""
    assert refiner.initial is not None
    refiner.initial.eval()
    return refiner.first_answer(batch)


def shuffled_batches(items: Sequence[Item], seed: int, size: int = 32) -> list[Drawn]:
    """All documents in a fixed shuffle, in batches of documents of like length."""
    by_length = sorted(range(len(items)), key=lambda number: items[number].graph.sentences)
    return [draw(items, by_length[start : start + size], seed + start) for start in range(0, len(by_length), size)]


class InitialStage:
    """Trains the initial classifier; scored by pair accuracy."""

    def __init__(self, name: str, refiner: Refiner, items: Sequence[Item], valid: Sequence[Item], seed: int) -> None:
        assert refiner.initial is not None
        self.name, self.items = name, items
        self.module: nn.Module = InitialTask(refiner.initial)
        self._refiner = refiner
        self._valid = shuffled_batches(valid, seed)

    def score(self) -> float:
        """Share of linked validation pairs put right, ties counting half."""
        return pair_accuracy(self._valid, self._refiner, self._refiner.first_answer)


class IterativeStage:
    """Trains the iterative classifier; scored by pair accuracy after all rounds of both classifiers."""

    def __init__(
        self, name: str, refiner: Refiner, items: Sequence[Item], valid: Sequence[Item], seed: int, noise_share: float
    ) -> None:
        self.name, self.items = name, items
        self.module: nn.Module = IterativeTask(refiner, noise_share)
        # The same classifiers without a limit of rounds: how many are taken later says nothing about this one.
        self._refiner = copy.copy(refiner)
        self._refiner.config = replace(refiner.config, rounds=None)
        self._valid = shuffled_batches(valid, seed)

    def score(self) -> float:
        """Share of linked validation pairs put right, ties counting half."""
        self._refiner.eval()
        return pair_accuracy(self._valid, self._refiner, lambda batch: self._refiner(batch).predicted)


def pair_accuracy(valid: Sequence[Drawn], refiner: Refiner, predict: Callable[[Batch], Tensor]) -> float:
    """Share of the linked pairs put right by (pairs,) predictions, over all processes, in percent."""
    right = pairs = 0.0
    for drawn in valid[rank() :: ranks()]:
        batch, gold = drawn.collated(device_of(refiner))
        truth = pair_truth(batch, gold)
        right += rightly(predict(batch), truth)
        pairs += len(truth)
    right, pairs = summed([right, pairs])
    return 100 * right / max(pairs, 1)


def rightly(predicted: Tensor, truth: Tensor) -> float:
    """How many pairs are on the right side of 0.5; a tie is half right."""
    right = ((predicted > 0.5) == (truth > 0.5)) & (predicted != 0.5)
    return float(right.sum() + 0.5 * (predicted == 0.5).sum())


def tune(refiner: Refiner, valid: Sequence[Item], seed: int) -> None:
    """Chooses the temperature that makes the initial classifier's log-loss least, then the rounds that put most right.

    Fewer rounds win a tie. What a refiner will do on unseen documents is thus settled on documents it has not seen.
    """
    refiner.eval()
    batches = shuffled_batches(valid, seed)

    def accuracy() -> float:
        return pair_accuracy(batches, refiner, lambda batch: refiner(batch).predicted)

    refiner.tune(1.0, 0)
    if refiner.initial is not None:
        losses = [0.0] * len(TEMPERATURES)
        for drawn in batches[rank() :: ranks()]:
            batch, gold = drawn.collated(device_of(refiner))
            logits, truth = torch.logit(refiner.first_answer(batch), eps=1e-6), pair_truth(batch, gold)
            for index, temperature in enumerate(TEMPERATURES):
                losses[index] += float(binary_cross_entropy_with_logits(logits / temperature, truth, reduction="sum"))
        losses = summed(losses)
        refiner.tune(TEMPERATURES[losses.index(min(losses))], 0)
    temperature = float(refiner.chosen[0])
    most = refiner.config.rounds
    limits = [limit for limit in LIMITS if most is None or (limit is not None and limit <= most)]
    best = -1.0
    chosen: int | None = 0
    for limit in limits if refiner.iterative is not None else [0]:
        refiner.tune(temperature, limit)
        if (found := accuracy()) > best:
            best, chosen = found, limit
    refiner.tune(temperature, chosen)


def with_weights(refiner: Refiner, items: Sequence[Item], seed: int) -> list[Item]:
    """The documents with the refiner's link weights; the refiner sees them shuffled."""
    refiner.eval()
    device = device_of(refiner)
    return weighted_by(lambda drawn: refiner(drawn.collated(device)[0]).weights, items, seed)


@torch.inference_mode()
def weighted_by(weights_of: Callable[[Drawn], Tensor], items: Sequence[Item], seed: int) -> list[Item]:
    """The documents, each as it was shuffled, with the weights that their links were given then."""
    by_length = sorted(range(len(items)), key=lambda number: items[number].graph.sentences)
    weighted: dict[int, Item] = {}
    done = 0
    batches = shuffled_batches(items, derived(seed, "weights") % 2**31)
    sizes = [linked_pairs(drawn.items) for drawn in batches]
    found = divided(sizes, lambda number: weights_of(batches[number]).cpu())
    for drawn, part_of_all in zip(batches, found, strict=True):
        weights = part_of_all.numpy().astype(np.float32)
        counts = [item.graph.pairs.shape[1] for item in drawn.items]
        for item, order, part in zip(drawn.items, drawn.orders, np.split(weights, np.cumsum(counts)[:-1]), strict=True):
            graph = replace(item.graph, weights=part).permuted(order)
            weighted[by_length[done]] = replace(item.permuted(order), graph=graph)
            done += 1
    return [weighted[number] for number in range(len(items))]
