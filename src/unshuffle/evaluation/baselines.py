"""Orders that need no training, for comparison: a random one, the input's, and the chain of nearest sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch

from unshuffle.encoders.contracts import Encoded
from unshuffle.evaluation.predict import Prediction, shuffled
from unshuffle.graph.batch import collate
from unshuffle.seeds import derived
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

Baseline = Callable[[Document], Sequence[int]]


def random_order(seed: int) -> Baseline:
    """Any order is as good as any other; the draw depends on the sentences, not on how they stand."""

    def order(document: Document) -> Sequence[int]:
        drawn = derived(seed, *sorted(document.sentences))
        return [int(number) for number in np.random.default_rng(drawn).permutation(len(document.sentences))]

    return order


def input_order(document: Document) -> Sequence[int]:
    """As it came."""
    return range(len(document.sentences))


def nearest_chain(orderer: Orderer) -> Baseline:
    """From the sentence nearest to all others on, always the nearest that is left, by the encoder's vectors."""

    @torch.inference_mode()
    def order(document: Document) -> Sequence[int]:
        encoded: Encoded = orderer.model.network.sentence_encoder(collate([orderer.model.preparer.item(document)]))
        vectors = torch.nn.functional.normalize(encoded.sentences, dim=1)
        nearness = vectors @ vectors.T
        chain = [int(nearness.sum(1).argmax())]
        left = set(range(len(vectors))) - set(chain)
        while left:
            chain.append(max(left, key=lambda number: float(nearness[chain[-1], number])))
            left.remove(chain[-1])
        return chain

    return order


def predict_baseline(baseline: Baseline, documents: Sequence[Document], *, seed: int) -> Iterator[Prediction]:
    """One shuffle of each document, in terms of its true order."""
    for document, permutation in shuffled(documents, 0, seed):
        yield Prediction(document.id, 0, tuple(permutation[position] for position in baseline(document)))
