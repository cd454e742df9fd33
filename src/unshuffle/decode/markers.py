"""Generating the order as markers of the sentences (Basu Roy Chowdhury et al., EMNLP 2021: ReBART)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self

from annotated_types import Ge, Lt
from torch import Tensor, nn

from unshuffle.decode.contracts import decoders
from unshuffle.decode.transformer.blocks import PrefixDecoder, ResidualBlock, position_codes
from unshuffle.decode.transformer.generator import Generator, GeneratorMemory, PrefixMemory
from unshuffle.decode.transformer.pretrained import PretrainedMemory, decoder_architecture, load_decoder
from unshuffle.encoders.contracts import States
from unshuffle.errors import DataError
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.segments import pad_documents, sentence_mask
from unshuffle.parts.registry import PartConfig


@dataclass(frozen=True, kw_only=True)
class MarkersConfig(PartConfig):
    """Marker decoder: a pretrained one from a folder, or a small one of its own."""

    markers: Annotated[int, Ge(2)] = 40
    """The largest number of sentences per document."""
    source: str = ""
    """Folder of a BART-like model whose decoder to start from; empty for a small one, or the model folder's."""
    architecture: dict[str, Any] = field(default_factory=dict)
    """The pretrained decoder's own configuration; filled from the source, so that a model folder needs no source."""
    width: Annotated[int, Ge(1)] = 256
    """Of the small decoder, like all options below."""
    blocks: Annotated[int, Ge(1)] = 2
    heads: Annotated[int, Ge(1)] = 8
    hidden: Annotated[int, Ge(1)] = 1024
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1

    def resolved(self) -> Self:
        """The same with its architecture filled in; weights still come from the source."""
        if not self.source or self.architecture:
            return self
        return replace(self, architecture=decoder_architecture(self.source))

    def detached(self) -> Self:
        """The same without its source, as a model folder that holds the weights should keep it."""
        return replace(self.resolved(), source="")


@decoders.register("markers", MarkersConfig)
class Markers(Generator):
    """Sentence k of the input carries marker k; markers are generated one by one, none of them twice.

    ReBART generates freely and repairs the result. Its encoder is the sentence encoder here (preferably one that reads
    the sentences as one sequence); the decoder reads markers only and attends to sentence states plus their markers.
    """

    order_sensitive = True

    def __init__(self, config: MarkersConfig, *, width: int, encoded_width: int, pair_width: int = 0) -> None:
        super().__init__()
        self.config = config = config.resolved()
        self.pretrained: nn.Module | None = None
        self.decoder: PrefixDecoder | None = None
        own = config.width
        if config.architecture:
            self.pretrained, own = load_decoder(config.source, config.architecture)
        else:
            self.decoder = PrefixDecoder(
                ResidualBlock(width=own, heads=config.heads, hidden=config.hidden, dropout=config.dropout)
                for _ in range(config.blocks)
            )
        self.marker = nn.Embedding(config.markers + 1, own)  # the last one starts
        self.sentence: nn.Module = nn.Linear(width, own)
        if self.decoder is None:
            nn.init.normal_(self.marker.weight, std=own**-0.5)
        else:
            # A pretrained decoder knows how to copy. A new one learns it sooner if markers weigh as much as sentence
            # states, and if attention to the sentences starts as the identity.
            self.sentence = nn.Sequential(self.sentence, nn.LayerNorm(own))
            self.decoder.start_by_copying()

    def memory(self, states: States, graph: GraphBatch) -> GeneratorMemory:
        """Everything that does not depend on what has been chosen."""
        mask = sentence_mask(graph)
        longest = mask.shape[1]
        if longest > self.config.markers:
            raise DataError(
                f"a document has {longest} sentences, but there are {self.config.markers} markers. "
                "Split the document, or train with more markers (decoder.markers)."
            )
        markers, start = self.marker.weight[:longest], self.marker.weight[-1]
        sentences = pad_documents(self.sentence(states.sentences), graph) + markers
        if self.pretrained is not None:
            return PretrainedMemory(self.pretrained, start=start, markers=markers, sentences=sentences, present=mask)

        def score(output: Tensor, document: Tensor) -> Tensor:
            logits: Tensor = output @ markers.t() / self.config.width**0.5  # (rows, longest)
            return logits

        if self.decoder is None:
            raise ValueError("a marker decoder is either pretrained or its own")
        return PrefixMemory(
            self.decoder,
            start=start,
            inputs=markers.expand(graph.documents, -1, -1),
            sentences=sentences,
            present=mask,
            codes=position_codes(longest, sentences),
            score=score,
        )
