"""A Haystack component: retrieved documents in the order in which they read coherently."""

from __future__ import annotations

from typing import Any, Unpack

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.integrations.chunks import ChunkOrderer, ChunkSettings
from unshuffle.system.options import OrderKeywords

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError:
    raise MissingExtra("The Haystack component", "haystack") from None

PLAIN = (str, int, float, bool, type(None))


@component
class CoherentOrderRanker:
    """Puts documents in reading order; the documents themselves, scores and all, are handed on untouched."""

    def __init__(
        self,
        model: str = "default",
        *,
        source_key: str | None = None,
        position_key: str | None = None,
        **options: Unpack[OrderKeywords],
    ) -> None:
        """`options` are those of `unshuffle.order`.

        `source_key` names the meta entry with a document's source: those of one source keep the order in which they
        come, or that of `position_key` where it is given.
        """
        self._settings = ChunkSettings(model=model, source_key=source_key, position_key=position_key, options=options)
        self._chunks: ChunkOrderer | None = None

    def warm_up(self) -> None:
        """Loads the model, once."""
        if self._chunks is None:
            self._chunks = ChunkOrderer(self._settings)

    def to_dict(self) -> dict[str, Any]:
        """How a pipeline is written down."""
        settings = self._settings
        for name, value in settings.options.items():
            if not isinstance(value, PLAIN):
                raise ConfigError(f"{name}: a pipeline with it cannot be written to a file. Set it after reading one.")
        written: dict[str, Any] = default_to_dict(
            self,
            model=settings.model,
            source_key=settings.source_key,
            position_key=settings.position_key,
            **settings.options,
        )
        return written

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CoherentOrderRanker:
        """The component as it was written down."""
        read: CoherentOrderRanker = default_from_dict(cls, data)
        return read

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """The same documents in another order."""
        self.warm_up()
        assert self._chunks is not None
        order = self._chunks.order([one.content for one in documents], [one.meta for one in documents])
        return {"documents": [documents[index] for index in order]}
