"""A transformer reads the order so far and points at the next sentence (Wang & Wan, AAAI 2019: HAN)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn

from unshuffle.decode.contracts import decoders
from unshuffle.decode.transformer.blocks import FusedBlock, PrefixDecoder, position_codes
from unshuffle.decode.transformer.generator import Generator, PrefixMemory
from unshuffle.encoders.contracts import States
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.segments import pad_documents, sentence_mask
from unshuffle.parts.registry import PartConfig


@dataclass(frozen=True, kw_only=True)
class TransformerPointerConfig(PartConfig):
    """Transformer decoder with fusion gates; the defaults are HAN's."""

    width: Annotated[int, Ge(1)] = 512
    blocks: Annotated[int, Ge(1)] = 3
    heads: Annotated[int, Ge(1)] = 4
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.15
    position_codes: bool = False
    """Whether position codes are added to the inputs; HAN has none."""


@decoders.register("transformer_pointer", TransformerPointerConfig)
class TransformerPointer(Generator):
    """Reads encoder vectors of the sentences chosen, attends to sentence states and points at one of them.

    HAN starts from a pseudo-sentence that also marks the end. Here a learned vector starts, and an order ends when no
    sentence is left.
    """

    def __init__(
        self, config: TransformerPointerConfig, *, width: int, encoded_width: int, pair_width: int = 0
    ) -> None:
        super().__init__()
        self.config = config
        self.start = nn.Parameter(torch.randn(config.width) / config.width**0.5)
        self.input = nn.Linear(encoded_width, config.width)
        self.sentence = nn.Linear(width, config.width)
        self.decoder = PrefixDecoder(
            FusedBlock(width=config.width, heads=config.heads, dropout=config.dropout) for _ in range(config.blocks)
        )
        self.query = nn.Linear(config.width, config.width)
        self.key = nn.Linear(config.width, config.width)

    def memory(self, states: States, graph: GraphBatch) -> PrefixMemory:
        """Everything that does not depend on what has been chosen."""
        inputs, sentences = self.input(states.encoded.sentences), self.sentence(states.sentences)
        keys = pad_documents(self.key(sentences), graph)
        codes = position_codes(keys.shape[1], inputs)

        def point(output: Tensor, document: Tensor) -> Tensor:
            query = self.query(output)[:, :, None] / self.config.width**0.5
            logits: Tensor = (keys.index_select(0, document) @ query).squeeze(2)  # (rows, longest)
            return logits

        return PrefixMemory(
            self.decoder,
            start=self.start,
            inputs=pad_documents(inputs, graph),
            sentences=pad_documents(sentences, graph),
            present=sentence_mask(graph),
            codes=codes if self.config.position_codes else torch.zeros_like(codes),
            score=point,
        )
