"""A LangChain step: retrieved chunks in the order in which they read coherently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from unshuffle.errors import MissingExtra
from unshuffle.integrations.chunks import ChunkOrderer, ChunkSettings
from unshuffle.system.options import OrderKeywords

try:
    from langchain_core.documents import BaseDocumentTransformer, Document
    from langchain_core.runnables import Runnable, RunnableConfig
except ImportError:
    raise MissingExtra("The LangChain transformer", "langchain") from None


class CoherentOrder(Runnable[Sequence[Document], list[Document]], BaseDocumentTransformer):
    """Puts documents in reading order; the documents themselves, metadata and all, are handed on untouched.

    A chain takes it like any other step: `retriever | CoherentOrder() | prompt`.
    """

    def __init__(
        self,
        model: str = "default",
        *,
        source_key: str | None = None,
        position_key: str | None = None,
        **options: Unpack[OrderKeywords],
    ) -> None:
        """`options` are those of `unshuffle.order`.

        `source_key` names the metadata entry with a chunk's source: chunks of one source keep the order in which they
        come, or that of `position_key` (`"start_index"`, `"page"`) where it is given.
        """
        self._chunks = ChunkOrderer(
            ChunkSettings(model=model, source_key=source_key, position_key=position_key, options=options)
        )

    def invoke(self, input: Sequence[Document], config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        """The same documents in another order."""
        found: list[Document] = self._call_with_config(self._ordered, input, config, run_type="retriever")
        return found

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> list[Document]:
        """The same documents in another order."""
        return self._ordered(documents)

    def _ordered(self, documents: Sequence[Document]) -> list[Document]:
        texts = [document.page_content for document in documents]
        return [documents[index] for index in self._chunks.order(texts, [one.metadata for one in documents])]
