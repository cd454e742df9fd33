"""Refinement: what a round costs in passes of the graph network, and what all of it adds to ordering."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from unshuffle.graph.batch import Batch, collate
from unshuffle.refine.iterative import Refiner
from unshuffle.system.network import Network
from unshuffle_research.benchmarks.documents import nips_like
from unshuffle_research.benchmarks.inference import BEAMS, order
from unshuffle_research.benchmarks.machine import one_thread, side_by_side
from unshuffle_research.benchmarks.models import decoding_model, items_of
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target

ROUND = 1.2
ROUNDS = 4


def run(settings: Settings) -> Report:
    """IRSE-GRN on documents in which every round leaves something undecided."""
    one_thread()
    count, repeats = (8, 1) if settings.quick else (64, 5)
    documents = nips_like(4 * count, seed=4)
    model = decoding_model("irse-grn", documents, settings)
    items = [item for item in items_of(model, documents) if item.graph.pairs.shape[1] > ROUNDS + 1][:count]
    batch = collate(items)
    refiner = model.network.refiner
    assert refiner is not None and refiner.iterative is not None
    slow = one_pair_a_round(refiner, batch)
    with torch.inference_mode():
        encoded = refiner.iterative.encode(batch, None)
        weights = torch.full((batch.graph.pairs.shape[1],), 0.5)
        spent = side_by_side(
            {
                "pass": partial(refiner.iterative.grn, encoded, batch.graph, weights),
                "few": partial(limited(slow, 1), batch),
                "many": partial(limited(slow, 1 + ROUNDS), batch),
            },
            repeats=repeats,
        )
    unrefined = replace(model, network=without_refiner(model.network))
    calls = {f"beam {beam}": partial(order, model, items, beam) for beam in BEAMS}
    calls |= {f"beam {beam}, not refined": partial(order, unrefined, items, beam) for beam in BEAMS}
    whole = side_by_side(calls, repeats=repeats)
    encodings = [words_read(refiner, batch, rounds) for rounds in (1, 1 + ROUNDS)]
    return Report(
        "refinement",
        (
            Target(
                name="a round in passes of the graph network",
                ratio=(spent["many"] - spent["few"]) / ROUNDS / spent["pass"],
                limit=ROUND,
                at_most=True,
            ),
            Target(
                name="words read for five rounds, in times of one round",
                ratio=encodings[1] / encodings[0],
                limit=1,
                at_most=True,
            ),
        ),
        {
            "ordering with refinement, in times of without": {
                f"beam {beam}": whole[f"beam {beam}"] / whole[f"beam {beam}, not refined"] for beam in BEAMS
            }
        },
    )


def without_refiner(network: Network) -> Network:
    """The same parts but one; a plain copy would share the table of them."""
    plain = copy.copy(network)
    plain._modules = dict(network._modules)
    plain.refiner = None
    return plain


def one_pair_a_round(refiner: Refiner, batch: Batch) -> Refiner:
    """The same classifiers, but each round settles one more pair of every document, whatever they say."""
    graph = batch.graph
    document = graph.document_of_sentence[graph.pairs[0]]
    counts = torch.bincount(document, minlength=graph.documents)
    position = torch.arange(len(document)) - (counts.cumsum(0) - counts)[document]

    class Slow(Refiner):
        asked = 0

        def forward(self, batch: Batch, shared: Any = None) -> Any:
            self.asked = 0
            return super().forward(batch, shared)

        def _unsure(self, predicted: Tensor) -> Tensor:
            self.asked += 1
            return position >= self.asked

    slow = copy.copy(refiner)
    slow.__class__ = Slow
    return slow


def limited(refiner: Refiner, rounds: int) -> Refiner:
    """The same with a limit of rounds."""
    limited = copy.copy(refiner)
    limited.config = replace(refiner.config, rounds=rounds)
    return limited


def words_read(refiner: Refiner, batch: Batch, rounds: int) -> int:
    """How many words the iterative classifier's encoder is given in a refinement of so many rounds."""
    assert refiner.iterative is not None and refiner.iterative.sentence_encoder is not None
    read = []
    encoder = refiner.iterative.sentence_encoder
    hook = encoder.register_forward_hook(lambda module, given, found: read.append(len(given[0].tokens.ids)))
    with torch.inference_mode():
        found = limited(one_pair_a_round(refiner, batch), rounds)(batch)
    hook.remove()
    assert len(found.rounds) == 1 + rounds
    return sum(read)
