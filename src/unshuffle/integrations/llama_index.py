"""A LlamaIndex node postprocessor: retrieved nodes in the order in which they read coherently."""

from __future__ import annotations

from typing import Any

from unshuffle.errors import MissingExtra
from unshuffle.system.options import OrderOptions, Threshold
from unshuffle.system.orderer import Orderer

try:
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
except ImportError:
    raise MissingExtra("The LlamaIndex postprocessor", "llama-index") from None


class CoherentOrderPostprocessor(BaseNodePostprocessor):
    """Puts nodes in reading order; nodes, scores and metadata are handed on untouched."""

    model: str = "default"
    beam: int | None = None
    keep_if_unsure: Threshold = None
    _orderer: Orderer = PrivateAttr()
    _options: OrderOptions = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Loads the model once."""
        super().model_post_init(context)
        self._orderer = Orderer.from_pretrained(self.model)
        self._options = OrderOptions(beam=self.beam, n_best=1, keep_if_unsure=self.keep_if_unsure)

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex writes it down."""
        return "CoherentOrderPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if len(nodes) < 2:
            return nodes
        texts = [node.node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        found = self._orderer.order(texts, self._options)
        return [nodes[position] for position in found.order]
