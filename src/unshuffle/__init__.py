"""Put sentences into the order in which they read coherently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Unpack

    from unshuffle.judge.chat import ChatJudge
    from unshuffle.judge.ranker import PairRanker
    from unshuffle.rank.constraints import Constraints
    from unshuffle.result import Coherence, Ordering
    from unshuffle.system.options import OrderKeywords, OrderOptions
    from unshuffle.system.orderer import Orderer
    from unshuffle.text.document import Document, DocumentLike, OnError

__version__ = "0.1.0"
__all__ = [
    "ChatJudge",
    "Coherence",
    "Constraints",
    "Document",
    "OrderOptions",
    "Orderer",
    "Ordering",
    "PairRanker",
    "__version__",
    "coherence",
    "order",
    "order_many",
]

# Looked up when first asked for (PEP 562): importing the package must not cost the seconds that torch takes.
_MODULES = {
    "ChatJudge": "unshuffle.judge.chat",
    "Coherence": "unshuffle.result",
    "Constraints": "unshuffle.rank.constraints",
    "Document": "unshuffle.text.document",
    "OrderOptions": "unshuffle.system.options",
    "Orderer": "unshuffle.system.orderer",
    "Ordering": "unshuffle.result",
    "PairRanker": "unshuffle.judge.ranker",
}


def order(
    sentences: DocumentLike,
    *,
    model: str = "default",
    parser: str | None = None,
    device: str = "cpu",
    **options: Unpack[OrderKeywords],
) -> Ordering:
    """The best order of some sentences, or of a text, which is split into sentences first.

    Options: `beam` (width of the search, 8), `n_best` (how many orders to give back, 5), `keep_if_unsure` (keep the
    input order below this confidence; "auto" for the model's own threshold), `constraints` (what you know already),
    `judge` (whom to ask about pairs of which the model is unsure, such as `ChatJudge`), `questions` (how many, 20).
    """
    return _orderer(model, parser, device).order(sentences, **options)


def order_many(
    documents: Iterable[DocumentLike],
    *,
    model: str = "default",
    parser: str | None = None,
    device: str = "cpu",
    batch_size: int = 32,
    on_error: OnError = "raise",
    progress: bool | None = None,
    **options: Unpack[OrderKeywords],
) -> Iterator[Ordering]:
    """The best order of each document of a list, column or generator, one at a time and in constant memory.

    `on_error="skip"` leaves out documents that cannot be read and ends with one warning; a result's `index` is
    the number of its document. A progress bar appears after a second on a terminal or in a notebook; `progress` is True
    to show it at once and False for never. Options are those of `order`.
    """
    return _orderer(model, parser, device).order_many(
        documents, batch_size=batch_size, on_error=on_error, progress=progress, **options
    )


def coherence(
    text: DocumentLike, *, model: str = "default", parser: str | None = None, device: str = "cpu"
) -> Coherence:
    """How coherent a text, or a list of sentences, is in the order in which it stands."""
    return _orderer(model, parser, device).coherence(text)


@lru_cache(maxsize=1)
def _orderer(model: str, parser: str | None, device: str) -> Orderer:
    from unshuffle.system.orderer import Orderer

    return Orderer.from_pretrained(model, parser=parser, device=device)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'unshuffle' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
