"""Transformer blocks that read a partial order and attend to all sentences, in one pass or step by step."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from unshuffle.errors import ConfigError
from unshuffle.layers.dropout import Dropout


@dataclass(frozen=True, slots=True)
class KeyValues:
    """Keys and values of attention."""

    keys: Tensor  # (rows, heads, length, head width)
    values: Tensor  # (rows, heads, length, head width)

    def rows(self, rows: Tensor) -> KeyValues:
        """A selection of rows."""
        return KeyValues(self.keys.index_select(0, rows), self.values.index_select(0, rows))

    def then(self, more: KeyValues) -> KeyValues:
        """Concatenation in length."""
        return KeyValues(torch.cat([self.keys, more.keys], 2), torch.cat([self.values, more.values], 2))


class Attention(nn.Module):
    """Multi-head attention; `rectified` puts queries, keys and values through a ReLU (Wang & Wan, 2019)."""

    def __init__(self, *, width: int, heads: int, dropout: float, rectified: bool = False) -> None:
        super().__init__()
        if width % heads:
            raise ConfigError(f"decoder.heads: {heads} do not divide the width {width}. Choose a divisor of the width.")
        self.heads, self.rate, self.rectified = heads, dropout, rectified
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)

    def remember(self, rows: Tensor) -> KeyValues:
        """(rows, length, width) as keys and values."""
        return KeyValues(*(self._split(part) for part in self.key_value(rows).chunk(2, 2)))

    def forward(self, rows: Tensor, memory: KeyValues, mask: Tensor | None) -> Tensor:
        """(rows, length, width); `mask`: what may be read."""
        rate = self.rate if self.training else 0.0
        attended = functional.scaled_dot_product_attention(
            self._split(self.query(rows)), memory.keys, memory.values, attn_mask=mask, dropout_p=rate
        )
        out: Tensor = self.out(attended.transpose(1, 2).flatten(2))
        return out

    def _split(self, rows: Tensor) -> Tensor:
        rows = functional.relu(rows) if self.rectified else rows
        return rows.view(*rows.shape[:2], self.heads, -1).transpose(1, 2)


class FusedBlock(nn.Module):
    """A gate mixes attention to the prefix with attention to the sentences (Wang & Wan, AAAI 2019: HAN)."""

    def __init__(self, *, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.own = Attention(width=width, heads=heads, dropout=dropout, rectified=True)
        self.seen = Attention(width=width, heads=heads, dropout=dropout, rectified=True)
        self.gate = nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width)

    def forward(
        self, rows: Tensor, own: KeyValues, seen: KeyValues, own_mask: Tensor | None, seen_mask: Tensor
    ) -> Tensor:
        """(rows, length, width)."""
        prefix, sentences = self.own(rows, own, own_mask), self.seen(rows, seen, seen_mask)
        gate = self.gate(torch.cat([prefix, sentences], 2)).sigmoid()
        fused: Tensor = self.norm(gate * prefix + (1 - gate) * sentences)
        return fused


class ResidualBlock(nn.Module):
    """The usual decoder block: prefix, sentences and a feed-forward layer, each added (Vaswani et al., 2017)."""

    def __init__(self, *, width: int, heads: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.own = Attention(width=width, heads=heads, dropout=dropout)
        self.seen = Attention(width=width, heads=heads, dropout=dropout)
        self.feed = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), Dropout(dropout), nn.Linear(hidden, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.dropout = Dropout(dropout)

    def forward(
        self, rows: Tensor, own: KeyValues, seen: KeyValues, own_mask: Tensor | None, seen_mask: Tensor
    ) -> Tensor:
        """(rows, length, width)."""
        rows = self.norms[0](rows + self.dropout(self.own(rows, own, own_mask)))
        rows = self.norms[1](rows + self.dropout(self.seen(rows, seen, seen_mask)))
        rows = self.norms[2](rows + self.dropout(self.feed(rows)))
        return rows


@dataclass(frozen=True, slots=True)
class Decoded:
    """States of the inputs, and the keys and values for later inputs."""

    outputs: Tensor  # (rows, length, width)
    past: tuple[KeyValues, ...]  # one per block


class PrefixDecoder(nn.Module):
    """A stack of blocks."""

    def __init__(self, blocks: Iterable[FusedBlock | ResidualBlock]) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def start_by_copying(self) -> None:
        """Initialises attention to the sentences as the identity on values."""
        for block in self._stack():
            width = block.seen.out.out_features
            with torch.no_grad():
                block.seen.key_value.weight[width:].copy_(torch.eye(width))
                block.seen.out.weight.copy_(torch.eye(width))

    def _stack(self) -> list[FusedBlock | ResidualBlock]:
        return cast("list[FusedBlock | ResidualBlock]", list(self.blocks))

    def look(self, sentences: Tensor) -> tuple[KeyValues, ...]:
        """(documents, longest, width) as keys and values of every block."""
        return tuple(block.seen.remember(sentences) for block in self._stack())

    def forward(
        self,
        inputs: Tensor,
        seen: tuple[KeyValues, ...],
        *,
        seen_mask: Tensor,
        own_mask: Tensor | None = None,
        past: tuple[KeyValues, ...] | None = None,
    ) -> Decoded:
        """(rows, length, width) after `past`; masks say what may be read, (rows or 1, 1, length or 1, read)."""
        remembered = []
        for number, block in enumerate(self._stack()):
            own = block.own.remember(inputs)
            own = own if past is None else past[number].then(own)
            remembered.append(own)
            inputs = block(inputs, own, seen[number], own_mask, seen_mask)
        return Decoded(inputs, tuple(remembered))


def position_codes(positions: int, like: Tensor) -> Tensor:
    """(positions, width) sines and cosines of the position (Vaswani et al., 2017)."""
    width = like.shape[-1]
    position = torch.arange(positions, device=like.device, dtype=like.dtype)[:, None]
    speed = torch.exp(torch.arange(0, width, 2, device=like.device, dtype=like.dtype) * (-math.log(10_000.0) / width))
    return torch.stack([torch.sin(position * speed), torch.cos(position * speed)], 2).flatten(1)[:, :width]
