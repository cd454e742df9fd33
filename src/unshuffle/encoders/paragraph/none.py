"""No paragraph encoder: sentences stay as they are, the document is their mean (Chen et al., 2016)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from unshuffle.encoders.contracts import Encoded, ParagraphEncoder, States, paragraph_encoders
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.segments import segment_mean
from unshuffle.parts.registry import PartConfig


@dataclass(frozen=True, kw_only=True)
class NoneConfig(PartConfig):
    """Sentences do not see each other."""


@paragraph_encoders.register("none", NoneConfig)
class NoContext(ParagraphEncoder):
    """Passes on the encoder's vectors."""

    def __init__(self, config: NoneConfig, *, width: int, entity_input: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
        """(sentences, width) -> the same, and (documents, width)."""
        documents = segment_mean(encoded.sentences, graph.document_of_sentence, graph.documents)
        return States(encoded, encoded.sentences, documents)
