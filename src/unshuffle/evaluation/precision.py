"""Whether a model loses anything when it computes in fewer bits: the same texts in both, kind by kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from unshuffle.evaluation.predict import Prediction, predict
from unshuffle.light.systems import light_fault
from unshuffle.metrics.orders import tau
from unshuffle.system.calibration import FewerBits
from unshuffle.system.loading import RuntimeName, read_description
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document

LOST = 0.2
"""Tau that may be lost on any kind of text."""
RUNTIMES: dict[FewerBits, RuntimeName] = {"int8": "light", "bf16": "torch"}


@dataclass(frozen=True, slots=True)
class Change:
    """What fewer bits did to one kind of text."""

    tau: float
    standard_error: float
    other_orders: int
    documents: int


def change(rounded: Sequence[Prediction], exact: Sequence[Prediction]) -> Change:
    """The change in tau, and how many orders are others."""
    taus = [np.array([100 * tau(each.order, range(len(each.order))) for each in some]) for some in (rounded, exact)]
    differences = taus[0] - taus[1]
    return Change(
        float(differences.mean()),
        float(differences.std() / len(differences) ** 0.5),
        sum(one.order != other.order for one, other in zip(rounded, exact, strict=True)),
        len(differences),
    )


def harmless(changes: Mapping[str, Change]) -> bool:
    """Whether no kind of text loses more than it may."""
    return all(each.tau >= -LOST for each in changes.values())


def changes_of(name: str, texts: Mapping[str, Sequence[Document]]) -> Iterator[tuple[FewerBits, dict[str, Change]]]:
    """Every precision that the model can run in here, with what it does to each kind of text."""
    for bits, runtime in RUNTIMES.items():
        if runtime == "light" and light_fault(read_description(name).system):
            continue
        if runtime == "torch" and find_spec("torch") is None:
            continue
        exact = Orderer.from_pretrained(name, runtime=runtime, precision="32")
        rounded = Orderer.from_pretrained(name, runtime=runtime, precision=bits)
        yield (
            bits,
            {
                kind: change(*(list(predict(orderer, documents, shuffles=1)) for orderer in (rounded, exact)))
                for kind, documents in texts.items()
            },
        )
