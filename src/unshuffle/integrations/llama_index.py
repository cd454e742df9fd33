"""A LlamaIndex node postprocessor: retrieved nodes in the order in which they read coherently."""

from __future__ import annotations

from typing import Any

from unshuffle.errors import MissingExtra
from unshuffle.integrations.chunks import ChunkOrderer, ChunkSettings
from unshuffle.system.options import OrderKeywords, Threshold

try:
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
except ImportError:
    raise MissingExtra("The LlamaIndex postprocessor", "llama-index") from None


class CoherentOrderPostprocessor(BaseNodePostprocessor):
    """Puts nodes in reading order; nodes, scores and metadata are handed on untouched."""

    model: str = "default"
    beam: int | None = None
    keep_if_unsure: Threshold = None
    source_key: str | None = Field(default=None, description="Metadata entry that names a node's source.")
    position_key: str | None = Field(default=None, description="Metadata entry that sorts the nodes of one source.")
    judge: Any = Field(default=None, exclude=True, description="Who is asked about pairs that the model is unsure of.")
    questions: int | None = Field(default=None, description="How many questions the judge is asked at most.")
    _chunks: ChunkOrderer = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Loads the model once."""
        super().model_post_init(context)
        options = OrderKeywords(beam=self.beam, keep_if_unsure=self.keep_if_unsure, judge=self.judge)
        if self.questions is not None:
            options["questions"] = self.questions
        self._chunks = ChunkOrderer(
            ChunkSettings(model=self.model, source_key=self.source_key, position_key=self.position_key, options=options)
        )

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex writes it down."""
        return "CoherentOrderPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        texts = [node.node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        return [nodes[index] for index in self._chunks.order(texts, [node.node.metadata for node in nodes])]
