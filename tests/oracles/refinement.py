"""Algorithm 1 for one document, pair by pair (Lai et al., 4.2)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from unshuffle.encoders.contracts import Encoded
from unshuffle.graph.batch import Batch
from unshuffle.refine.classifier import PairClassifier
from unshuffle.refine.iterative import Refiner

Pair = tuple[int, int]


@dataclass
class Trace:
    """Weights by pair and the undecided pairs, after each round."""

    weights: list[dict[Pair, float]]
    undecided: list[set[Pair]]


def score(classifier: PairClassifier, states: Tensor, one: int, other: int) -> float:
    """Chance that `one` comes before `other`, asked in this direction only; the head on the concatenation."""
    head = classifier.head
    first, second = head.rest[2], head.rest[5]
    matrix = torch.cat([head.from_one.weight, head.from_other.weight], 1)
    hidden = torch.relu(matrix @ torch.cat([states[one], states[other]]))
    return float(torch.sigmoid((second.weight @ torch.relu(first.weight @ hidden)).double()))


def predicted(
    classifier: PairClassifier, encoded: Encoded, batch: Batch, weights: dict[Pair, float], asked: set[Pair]
) -> dict[Pair, float]:
    """Both directions scored afresh and normalised."""
    given = torch.tensor([weights[one, other] for one, other in batch.graph.pairs.T.tolist()])
    states = classifier.grn(encoded, batch.graph, given).sentences
    result = {}
    for one, other in asked:
        forward, backward = score(classifier, states, one, other), score(classifier, states, other, one)
        result[one, other] = forward / (forward + backward)
    return result


def refine(refiner: Refiner, batch: Batch) -> Trace:
    """`batch` holds one document."""
    low, high = refiner.config.unsure_from, refiner.config.unsure_to
    pairs = {(one, other) for one, other in batch.graph.pairs.T.tolist()}
    weights = dict.fromkeys(pairs, 0.5)
    assert refiner.initial is not None and refiner.iterative is not None
    found = predicted(refiner.initial, refiner.initial.encode(batch, None), batch, weights, pairs)
    undecided = {pair for pair in pairs if low <= found[pair] <= high}
    weights = {pair: 0.5 if pair in undecided else found[pair] for pair in pairs}
    trace = Trace([weights], [undecided])
    while undecided:
        encoded = refiner.iterative.encode(batch, None)
        found = predicted(refiner.iterative, encoded, batch, weights, undecided)
        left = {pair for pair in undecided if low <= found[pair] <= high}
        weights = weights | {pair: 0.5 if pair in left else found[pair] for pair in undecided}
        trace.weights.append(weights)
        trace.undecided.append(left)
        if left == undecided:
            break
        undecided = left
    return trace
