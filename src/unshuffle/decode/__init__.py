"""States to orders; importing this package registers every kind of decoder."""

from unshuffle.decode import (
    future_history,
    markers,
    pair_matrix,
    pointer,
    positions,
    scores,
    topical,
    transformer_pointer,
    verified,
)

__all__ = [
    "future_history",
    "markers",
    "pair_matrix",
    "pointer",
    "positions",
    "scores",
    "topical",
    "transformer_pointer",
    "verified",
]
