"""One document under honest and under leaked refinement and sorting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unshuffle.encoders.contracts import Encoded
from unshuffle.evaluation.predict import shuffled
from unshuffle.graph.batch import Batch, collate
from unshuffle.rank import rank
from unshuffle.refine.classifier import PairClassifier, normalised
from unshuffle.search.contracts import Search
from unshuffle.seeds import derived
from unshuffle.system.network import Network
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle_research.leaks.direction import Case, refined
from unshuffle_research.leaks.sort import coin_flips, sorted_as

WEIGHTS = ("no refinement", "honest", "honest, raw", "leaked", "leaked, raw", "truth")
SORTS = ("true numbers", "random numbers", "exact (Kemeny)", "coin flips, true numbers", "coin flips, random numbers")
BIASES = (-1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)


@dataclass(frozen=True)
class Observed:
    """A document's linked pairs and orders; orders list true positions."""

    linked: int
    right: dict[str, float]
    """Pairs put right by each way of refining, by the way it scores itself; ties half."""
    biased: dict[str, list[float]]
    """Pairs put right when every logit is moved by one of BIASES: honest and leaked."""
    orders: dict[str, tuple[int, ...]]
    """By the ordering model under each kind of link weights."""
    sorts: dict[str, tuple[int, ...]]


@torch.inference_mode()
def observe(orderer: Orderer, documents: Sequence[Document], *, seed: int, beam: int) -> Iterator[Observed]:
    """Every document of two sentences or more, in the shuffle in which the experiments see it."""
    network = orderer.model.network
    assert network.refiner is not None and network.refiner.initial is not None and network.refiner.iterative is not None
    for number, (document, permutation) in enumerate(shuffled(documents, 0, seed)):
        if len(permutation) < 2:
            continue
        batch = collate([orderer.model.preparer.item(document)])
        encoded: Encoded = network.sentence_encoder(batch)
        position = torch.tensor(permutation)
        truth = position[batch.graph.pairs[0]] < position[batch.graph.pairs[1]]
        draw = np.random.default_rng(derived(seed, "leaks", number))
        case = Case.of(network.refiner, batch, encoded, truth)
        yield Observed(
            linked=len(truth),
            right=_right(case),
            biased=_biased(case),
            orders=_orders(network, case, encoded, permutation, beam),
            sorts=_sorts(network.refiner.initial, batch, encoded, permutation, draw),
        )


def _right(case: Case) -> dict[str, float]:
    return {
        "initial": _count(case.start),
        "honest": _count(refined(case, told=False).predicted),
        "leaked": _count(refined(case, told=True).predicted),
    }


def _biased(case: Case) -> dict[str, list[float]]:
    return {
        name: [_count(refined(case, told=told, bias=bias).predicted) for bias in BIASES]
        for name, told in (("honest", False), ("leaked", True))
    }


def _count(given: Tensor) -> float:
    return float((given > 0.5).sum() + 0.5 * (given == 0.5).sum())


def _orders(
    network: Network, case: Case, encoded: Encoded, permutation: Sequence[int], beam: int
) -> dict[str, tuple[int, ...]]:
    honest, leaked = refined(case, told=False), refined(case, told=True)
    weights = {
        "no refinement": torch.full((len(case.truth),), 0.5),
        "honest": honest.half,
        "honest, raw": honest.raw,
        "leaked": leaked.half,
        "leaked, raw": leaked.raw,
        "truth": torch.where(case.truth, 0.99, 0.01),
    }
    found = {}
    for name, row in weights.items():
        states = network.paragraph_encoder(encoded, case.graph, row)
        (best,) = network.decoder.search(states, case.graph, Search(beam=beam))
        found[name] = tuple(permutation[position] for position in best.orders[0])
    return found


def _sorts(
    classifier: PairClassifier, batch: Batch, encoded: Encoded, permutation: Sequence[int], draw: np.random.Generator
) -> dict[str, tuple[int, ...]]:
    """The classifier's decisions on all pairs, linked or not, sorted in each way."""
    size = len(permutation)
    true_first = np.argsort(permutation).tolist()  # the true order in terms of the input
    probability = _matrix(classifier, batch, encoded, size)
    ties = draw.random((size, size)) < 0.5
    before = np.where(probability == 0.5, np.triu(ties, 1) | np.triu(~ties, 1).T, probability > 0.5)
    flips = coin_flips(size, draw)
    orders = {
        "true numbers": sorted_as(before, true_first),
        "random numbers": sorted_as(before, draw.permutation(size).tolist()),
        "exact (Kemeny)": rank(probability, "kemeny").order,
        "coin flips, true numbers": sorted_as(flips, true_first),
        "coin flips, random numbers": sorted_as(flips, draw.permutation(size).tolist()),
    }
    return {name: tuple(permutation[position] for position in order) for name, order in orders.items()}


def _matrix(classifier: PairClassifier, batch: Batch, encoded: Encoded, size: int) -> NDArray[np.float64]:
    pairs = torch.tensor(np.stack(np.triu_indices(size, 1)))
    half = torch.full((batch.graph.pairs.shape[1],), 0.5)
    states = classifier.grn(classifier.encode(batch, encoded), batch.graph, half).sentences
    forward = normalised(classifier.head(states, pairs)).double().numpy()
    table = np.full((size, size), 0.5)
    table[tuple(pairs.numpy())] = forward
    table[tuple(pairs.flip(0).numpy())] = 1 - forward
    return table
