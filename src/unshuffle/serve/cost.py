"""What a request will cost, estimated before any of it is done.

The unit is one word piece read by the model, counted with the model's own tokenizer: a text without blanks has few
words and many pieces. The other weights are shares of that, measured on the shipped model; another model takes another
time for a unit, but about as many units.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from unshuffle.errors import DataError
from unshuffle.exercises.make import paragraphs_tried
from unshuffle.serve.settings import Limits
from unshuffle.system.assemble import CONFIDENCE_BEAM
from unshuffle.system.options import DEFAULT_BEAM

PAIR = 1 / 3
"""One pair of sentences, compared."""
STEP = 1 / 500
"""One sentence tried at one position, for each order that the search keeps."""
SCORED = 1 / 330
"""One sentence tried at one position of an order that is scored."""
LETTER = 1 / 30
"""One character of an exercise, set on the sheet and in the key of a PDF."""
MOST_SCORED = 600_000
"""Squared sentences times orders that a score looks at, at most."""
MOST_ORDERS = 1_100
"""Orders that a score looks at, at most."""


def reading_cost(pieces: Sequence[int]) -> float:
    """Of reading one document, given the pieces of each of its sentences, and comparing its sentences."""
    size = len(pieces)
    return sum(pieces) + PAIR * size * (size - 1) / 2


def order_cost(pieces: Sequence[int], width: int = DEFAULT_BEAM) -> float:
    """Of putting one document in order with a search of this width."""
    searched = width if width == CONFIDENCE_BEAM else width + CONFIDENCE_BEAM
    return reading_cost(pieces) + STEP * searched * len(pieces) ** 2


def score_cost(pieces: Sequence[int]) -> float:
    """Of scoring one document."""
    return reading_cost(pieces) + SCORED * min(MOST_SCORED, MOST_ORDERS * len(pieces) ** 2)


def exercise_cost(pieces: Sequence[int], *, mend: bool) -> float:
    """Of all the paragraphs that may have to be put in order to make an exercise of one."""
    mean = fmean(pieces)
    return sum(
        paragraphs * (mean * size + PAIR * size * (size - 1) / 2 + STEP * DEFAULT_BEAM * size**2)
        for size, paragraphs in paragraphs_tried(len(pieces), mend=mend)
    )


def file_cost(sentences: Sequence[str]) -> float:
    """Of writing an exercise to a file."""
    return LETTER * sum(map(len, sentences))


def check_document_cost(cost: float, limits: Limits, where: str = "") -> None:
    """Refuse a document that would keep the model busy for too long: reading one cannot be interrupted."""
    if cost > limits.document_cost:
        raise DataError(
            f"{where}sentences: the document costs about {cost:.0f} word pieces; the limit is {limits.document_cost}. "
            "Send fewer or shorter sentences."
        )


def check_request_cost(cost: float, limits: Limits, advice: str) -> None:
    """Refuse a request that would take longer than anyone waits."""
    if cost > limits.cost:
        raise DataError(f"cost: the request costs about {cost:.0f} word pieces; the limit is {limits.cost}. {advice}")
