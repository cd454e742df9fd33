"""What a request will cost, estimated before any of it is done.

The unit is one word read by the model. The other weights are shares of that, measured on the shipped model: 10
sentences of 15 words take a tenth of a second on one core, 60 of 40 words two and a half seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from unshuffle.errors import DataError
from unshuffle.exercises.make import paragraphs_tried
from unshuffle.serve.settings import Limits

PAIR = 1 / 3
"""One pair of sentences, compared."""
STEP = 1 / 500
"""One sentence tried at one place, for each order that the search keeps."""
SCORED = 1 / 330
"""One sentence tried at one place of an order that is scored."""
USUAL_BEAM = 8
MOST_SCORED = 600_000
"""Squared sentences times orders that a score looks at, at most."""
MOST_ORDERS = 1_100
"""Orders that a score looks at, at most."""


def reading_cost(sentences: Sequence[str]) -> float:
    """Of reading one document and comparing its sentences."""
    size = len(sentences)
    return sum(len(sentence.split()) for sentence in sentences) + PAIR * size * (size - 1) / 2


def order_cost(sentences: Sequence[str], beam: int | None = None, n_best: int = 5) -> float:
    """Of putting one document in order."""
    width = max(USUAL_BEAM if beam is None else beam, n_best)
    return reading_cost(sentences) + STEP * width * len(sentences) ** 2


def score_cost(sentences: Sequence[str]) -> float:
    """Of scoring one document."""
    return reading_cost(sentences) + SCORED * min(MOST_SCORED, MOST_ORDERS * len(sentences) ** 2)


def exercise_cost(sentences: Sequence[str], *, mend: bool) -> float:
    """Of all the paragraphs that may have to be put in order to make an exercise of one."""
    words = fmean(len(sentence.split()) for sentence in sentences)
    return sum(
        paragraphs * (words * size + PAIR * size * (size - 1) / 2 + STEP * USUAL_BEAM * size**2)
        for size, paragraphs in paragraphs_tried(len(sentences), mend=mend)
    )


def check_document_cost(cost: float, limits: Limits, where: str = "") -> None:
    """Refuse a document that would keep the model busy for too long: reading one cannot be interrupted."""
    if cost > limits.document_cost:
        raise DataError(
            f"{where}sentences: the document costs about {cost:.0f} word reads; the limit is {limits.document_cost}. "
            "Send fewer or shorter sentences."
        )


def check_request_cost(cost: float, limits: Limits, advice: str) -> None:
    """Refuse a request that would take longer than anyone waits."""
    if cost > limits.cost:
        raise DataError(f"cost: the request costs about {cost:.0f} word reads; the limit is {limits.cost}. {advice}")
