"""Self-attention over sentences without positions (Cui et al., 2018: ATTOrderNet; HAN; RankTxNet; BERSON)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from unshuffle.encoders.contracts import Encoded, ParagraphEncoder, States, paragraph_encoders
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import pad_documents, segment_mean, sentence_mask
from unshuffle.parts.registry import PartConfig


@dataclass(frozen=True, kw_only=True)
class ParagraphTransformerConfig(PartConfig):
    """Self-attention paragraph encoder; the defaults are ATTOrderNet's.

    HAN: layers 3, heads 4, feedforward 0, fusion, dropout 0.15. BERSON: feedforward 3072. FHDecoder: heads 4,
    feedforward 512.
    """

    layers: Annotated[int, Ge(1)] = 2
    heads: Annotated[int, Ge(1)] = 8
    feedforward: Annotated[int, Ge(0)] = 2048
    """Hidden width of the feed-forward network after each attention; 0 leaves that network out."""
    fusion: bool = False
    """Whether a gate replaces the residual sum; projections then go through ReLU."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1


@paragraph_encoders.register("transformer", ParagraphTransformerConfig)
class ParagraphTransformer(ParagraphEncoder):
    """Every sentence attends to all sentences of its document; the document state is their mean."""

    def __init__(self, config: ParagraphTransformerConfig, *, width: int, entity_input: int) -> None:
        super().__init__()
        if width % config.heads:
            raise ConfigError(
                f"paragraph_encoder.heads: {width} is not divisible by {config.heads}. Choose another number."
            )
        self.width = width
        self.layers = nn.ModuleList(Block(config, width) for _ in range(config.layers))

    def forward(self, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
        """(sentences, width) -> (sentences, width), (documents, width)."""
        mask = sentence_mask(graph)
        states = pad_documents(encoded.sentences, graph)  # (documents, longest, width)
        for layer in self.layers:
            states = layer(states, mask)
        sentences = states[mask]
        return States(encoded, sentences, segment_mean(sentences, graph.document_of_sentence, graph.documents))


class Block(nn.Module):
    """Attention and a feed-forward network, each mixed with its input and normalised."""

    def __init__(self, config: ParagraphTransformerConfig, width: int) -> None:
        super().__init__()
        self.heads = config.heads
        self.rectified = config.fusion
        self.query_key_value = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.mix_heard = Mix(width, gated=config.fusion, dropout=config.dropout)
        self.feedforward: nn.Module | None = None
        if config.feedforward:
            self.feedforward = nn.Sequential(
                nn.Linear(width, config.feedforward),
                nn.ReLU(),
                Dropout(config.dropout),
                nn.Linear(config.feedforward, width),
            )
            self.mix_thought = Mix(width, gated=config.fusion, dropout=config.dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """(documents, longest, width), (documents, longest) -> (documents, longest, width)."""
        projected = self.query_key_value(states)
        if self.rectified:
            projected = projected.relu()
        parts = projected.unflatten(-1, (3, self.heads, -1))  # (documents, longest, 3, heads, part)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # (documents, heads, longest, part) each
        attended = scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None])
        states = self.mix_heard(states, self.output(attended.transpose(1, 2).flatten(2)))
        if self.feedforward is not None:
            states = self.mix_thought(states, self.feedforward(states))
        return states


class Mix(nn.Module):
    """A residual sum, or a gate between old and new state, then layer normalisation (Wang and Wan, 2019).

    The form of HAN's fusion gate is an assumption: gate = sigmoid(W [old; new]), old where it is 1.
    """

    def __init__(self, width: int, *, gated: bool, dropout: float) -> None:
        super().__init__()
        self.gate = nn.Linear(2 * width, width) if gated else None
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)

    def forward(self, old: Tensor, new: Tensor) -> Tensor:
        """(..., width), (..., width) -> (..., width)."""
        new = self.dropout(new)
        mixed = old + new if self.gate is None else torch.lerp(new, old, self.gate(torch.cat([old, new], -1)).sigmoid())
        normal: Tensor = self.norm(mixed)
        return normal
