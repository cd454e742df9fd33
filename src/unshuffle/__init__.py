"""Put sentences into the order in which they read coherently."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unshuffle.rank.comparator import PairRanker
    from unshuffle.rank.constraints import Constraints
    from unshuffle.result import Coherence, Ordering
    from unshuffle.system.orderer import Orderer
    from unshuffle.text.document import Document

__version__ = "0.1.0"
__all__ = [
    "Coherence",
    "Constraints",
    "Document",
    "Orderer",
    "Ordering",
    "PairRanker",
    "__version__",
    "coherence",
    "order",
]

# Looked up when first asked for (PEP 562): importing the package must not cost the seconds that torch takes.
_PLACES = {
    "Coherence": "unshuffle.result",
    "Constraints": "unshuffle.rank.constraints",
    "Document": "unshuffle.text.document",
    "Orderer": "unshuffle.system.orderer",
    "Ordering": "unshuffle.result",
    "PairRanker": "unshuffle.rank.comparator",
}


def order(
    sentences: Sequence[str] | Document,
    *,
    model: str = "default",
    beam: int | None = None,
    n_best: int = 5,
    keep_if_unsure: float | None = None,
    constraints: Constraints | None = None,
    parser: str | None = None,
    device: str = "cpu",
) -> Ordering:
    """The best order of some sentences: `order(sentences).order` are input indices in reading order."""
    return _orderer(model, parser, device).order(
        sentences, beam=beam, n_best=n_best, keep_if_unsure=keep_if_unsure, constraints=constraints
    )


def coherence(
    text: str | Sequence[str] | Document, *, model: str = "default", parser: str | None = None, device: str = "cpu"
) -> Coherence:
    """How coherent a text, or a list of sentences, is in the order in which it stands."""
    return _orderer(model, parser, device).coherence(text)


@lru_cache(maxsize=1)
def _orderer(model: str, parser: str | None, device: str) -> Orderer:
    from unshuffle.system.orderer import Orderer

    return Orderer.from_pretrained(model, parser=parser, device=device)


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'unshuffle' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
