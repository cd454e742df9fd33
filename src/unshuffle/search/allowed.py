"""What users require of an order, as arrays for the beam search and back as constraints for the rankers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unshuffle.errors import ConfigError
from unshuffle.rank.constraints import Constraints
from unshuffle.search.contracts import Allowed


def allowed_orders(constraints: Sequence[Constraints | None], sizes: Sequence[int]) -> Allowed | None:
    """The constraints of each document of a batch, checked that some order meets them; None where there are none."""
    if len(constraints) != len(sizes):
        raise ConfigError(
            f"constraints: {len(constraints)} for {len(sizes)} documents. Give one, or None, per document."
        )
    if all(some is None or some == Constraints() for some in constraints):
        return None
    documents, longest = len(sizes), max(sizes)
    before = np.zeros((documents, longest, longest), np.bool_)
    places = np.zeros((documents, longest, longest), np.bool_)
    for document, (some, size) in enumerate(zip(constraints, sizes, strict=True)):
        rules = (some or Constraints()).rules(size)
        place = np.arange(size)[:, None]
        before[document, :size, :size] = rules.required
        places[document, :size, :size] = (rules.earliest <= place) & (place <= rules.latest)
    return Allowed(before, places)


def constraints_of(allowed: Allowed | None, document: int, size: int) -> Constraints | None:
    """The constraints of one document: a sentence with one position is fixed there, the rest follows from `before`."""
    if allowed is None:
        return None
    before = np.argwhere(allowed.before[document, :size, :size]).tolist()
    places = allowed.places[document, :size, :size]
    fixed = np.argwhere(places & (places.sum(0) == 1)).tolist()
    return Constraints(
        before=tuple((first, second) for first, second in before),
        fixed=tuple((place, sentence) for place, sentence in fixed),
    )
