"""A LangChain document transformer: retrieved chunks in the order in which they read coherently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from unshuffle.errors import MissingExtra
from unshuffle.system.options import OrderKeywords, OrderOptions
from unshuffle.system.orderer import Orderer

try:
    from langchain_core.documents import BaseDocumentTransformer, Document
except ImportError:
    raise MissingExtra("The LangChain transformer", "langchain") from None


class CoherentOrder(BaseDocumentTransformer):
    """Puts documents in reading order; the documents themselves, metadata and all, are handed on untouched."""

    def __init__(self, model: str = "default", **options: Unpack[OrderKeywords]) -> None:
        """`options` are those of `unshuffle.order`."""
        self._orderer = Orderer.from_pretrained(model)
        self._options = OrderOptions(**options)

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> Sequence[Document]:
        """The same documents in another order."""
        if len(documents) < 2:
            return list(documents)
        texts = [document.page_content for document in documents]
        found = self._orderer.order(texts, self._options)
        return [documents[position] for position in found.order]
