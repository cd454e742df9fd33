"""Users' constraints as tensors for the beam search, and back as constraints for the rankers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from unshuffle.decode.contracts import Allowed
from unshuffle.errors import ConfigError
from unshuffle.rank.constraints import Constraints


def allowed_orders(constraints: Sequence[Constraints | None], sizes: Sequence[int] | Tensor) -> Allowed | None:
    """The constraints of each document of a batch, checked to be satisfiable; None where there are none."""
    lengths = [int(size) for size in sizes]
    if len(constraints) != len(lengths):
        raise ConfigError(
            f"constraints: {len(constraints)} for {len(lengths)} documents. Give one or None per document."
        )
    if all(some is None or some == Constraints() for some in constraints):
        return None
    documents, longest = len(lengths), max(lengths)
    before = np.zeros((documents, longest, longest), np.bool_)
    places = np.zeros((documents, longest, longest), np.bool_)
    for document, (some, size) in enumerate(zip(constraints, lengths, strict=True)):
        rules = (some or Constraints()).rules(size)
        place = np.arange(size)[:, None]
        before[document, :size, :size] = rules.required
        places[document, :size, :size] = (rules.earliest <= place) & (place <= rules.latest)
    device = sizes.device if isinstance(sizes, Tensor) else "cpu"
    return Allowed(torch.from_numpy(before).to(device), torch.from_numpy(places).to(device))


def constraints_of(allowed: Allowed | None, document: int, size: int) -> Constraints | None:
    """The constraints of one document: a sentence with one place is fixed there, other windows follow from `before`."""
    if allowed is None:
        return None
    before = allowed.before[document, :size, :size].nonzero().tolist()
    places = allowed.places[document, :size, :size]
    fixed = (places & (places.sum(0) == 1)).nonzero().tolist()
    return Constraints(
        before=tuple((first, second) for first, second in before),
        fixed=tuple((place, sentence) for place, sentence in fixed),
    )
