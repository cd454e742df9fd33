"""The stage that trains the ordering model, and the one that trains everything at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Literal

import torch
from torch import Tensor, nn

from unshuffle.decode.contracts import Gold
from unshuffle.graph.batch import Batch
from unshuffle.graph.prepare import Item
from unshuffle.machine import device_of
from unshuffle.metrics.summary import OrderPair, Score, Tally, tally
from unshuffle.refine.classifier import degraded, normalised, undecided_weights
from unshuffle.search.contracts import Search
from unshuffle.system.network import Network
from unshuffle.training.classifiers import both_ways, linked_pairs, pair_truth, shuffled_batches, training_weights
from unshuffle.training.loop import Drawn
from unshuffle.training.processes import rank, ranks, summed


class OrderingTask(nn.Module):
    """The decoder's loss; link weights come with the documents, or are a judge's of any reliability."""

    def __init__(self, network: Network, *, judged: bool = False) -> None:
        super().__init__()
        self.network = network
        self.judged = judged

    def forward(self, batch: Batch, gold: Gold, drawn: Drawn) -> Tensor:
        """Negative log-likelihood of the true orders."""
        if self.judged:
            batch = replace(batch, weights=judged_weights(batch, gold, drawn))
        return decoder_share(self.network, drawn, self.network(batch, gold))


class JointTask(nn.Module):
    """Ordering model and both classifiers on one sentence encoder, trained together.

    The ordering model reads the link weights that the classifiers give at that moment. That is honest where documents
    are seen once or twice; on a small corpus seen many times the staged training with cross-fitting is.
    """

    def __init__(self, network: Network, *, pair_loss_weight: float = 1.0) -> None:
        super().__init__()
        self.network = network
        self.pair_loss_weight = pair_loss_weight

    def forward(self, batch: Batch, gold: Gold, drawn: Drawn) -> Tensor:
        """The network's loss plus both classifiers' cross-entropies."""
        network, refiner = self.network, self.network.refiner
        assert refiner is not None
        truth = pair_truth(batch, gold)
        encoded = network.sentence_encoder(batch)
        pair_loss, logits = truth.new_zeros(()), truth.new_zeros(2, len(truth))
        if refiner.initial is not None:
            logits = refiner.initial(encoded, batch.graph, undecided_weights(batch.graph))
            pair_loss = both_ways(logits, truth)
            pair_loss = drawn.weighed(pair_loss, len(truth), linked_pairs((drawn.whole or drawn).items))
        if refiner.iterative is not None:
            share = refiner.config.noise_share
            share = 0.2 if share == "auto" else share
            corrupted, changed = training_weights(refiner, drawn, truth, share, lambda: normalised(logits.detach()))
            wrong = both_ways(refiner.iterative(encoded, batch.graph, corrupted.weights), truth, corrupted.changed)
            pair_loss = pair_loss + drawn.weighed(wrong, int(corrupted.changed.sum()), changed)
        return decoder_share(network, drawn, network(batch, gold, encoded)) + self.pair_loss_weight * pair_loss


def judged_weights(batch: Batch, gold: Gold, drawn: Drawn) -> Tensor:
    """(pairs,) drawn for all documents in each process, so that a pair's weight does not depend on who has it."""
    whole = drawn.whole or drawn
    pairs = [item.graph.pairs.shape[1] for item in whole.items]
    here = slice(sum(pairs[: drawn.first]), sum(pairs[: drawn.first]) + batch.graph.pairs.shape[1])
    truth = torch.zeros(sum(pairs), device=gold.position.device)
    truth[here] = pair_truth(batch, gold)
    document = torch.arange(len(pairs)).repeat_interleave(torch.tensor(pairs)).to(truth.device)
    return degraded(truth, document, len(pairs), torch.Generator().manual_seed(drawn.seed))[here]


def decoder_share(network: Network, drawn: Drawn, loss: Tensor) -> Tensor:
    """A decoder's loss with the weight of the documents here, by what the decoder averages over."""
    here, everywhere = (
        network.decoder.loss_units([item.graph.sentences for item in items])
        for items in (drawn.items, (drawn.whole or drawn).items)
    )
    return drawn.weighed(loss, here, everywhere)


class OrderingStage:
    """Trains all but the refiner, or with `joint` all at once; scored by orders of the validation documents."""

    def __init__(
        self,
        name: str,
        network: Network,
        items: Sequence[Item],
        valid: Sequence[Item],
        seed: int,
        *,
        beam: int,
        measure: Literal["acc_micro", "tau", "pmr"],
        joint: bool = False,
        judged: bool = False,
    ) -> None:
        self.name, self.items = name, items
        if network.refiner is not None:
            network.refiner.requires_grad_(joint)
        self.module: nn.Module = JointTask(network) if joint else OrderingTask(network, judged=judged)
        self._network, self._beam, self._measure = network, beam, measure
        self._valid, self._judged = shuffled_batches(valid, seed), judged

    def score(self) -> float:
        """The chosen measure on validation, in percent."""
        return float(getattr(self.validate(), self._measure))

    def validate(self) -> Score:
        """All measures on validation."""
        pairs = []
        for drawn in self._valid[rank() :: ranks()]:
            batch, gold = drawn.collated(device_of(self._network))
            if self._judged:  # the same judge at every epoch, of all reliabilities
                batch = replace(batch, weights=judged_weights(batch, gold, drawn))
            found = self._network.search(self._network.read(batch), batch, Search(beam=self._beam))
            pairs += [OrderPair(best.orders[0], true) for best, true in zip(found, drawn.orders, strict=True)]
        return gathered(tally(pairs)).score()


def gathered(mine: Tally) -> Tally:
    """The tally of all processes."""
    names = [field.name for field in fields(Tally) if field.name != "within"]
    *sums, one, two, three = summed([*(getattr(mine, name) for name in names), *mine.within])
    kinds = {name: type(getattr(mine, name)) for name in names}
    totals = {name: kinds[name](value) for name, value in zip(names, sums, strict=True)}
    return Tally(**totals, within=(int(one), int(two), int(three)))
