"""Messages between linked sentences under their link weights: the paper's form and those of the released programs."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from unshuffle.layers.segments import scatter_sum, select_rows

LinkMessage = Literal["gated", "sum", "weighted", "bucketed"]


class Gated(nn.Module):
    """Weight times gate times neighbour (Lai et al., 4.3)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.from_target = nn.Linear(width, width)
        self.from_source = nn.Linear(width, width, bias=False)

    def forward(self, state: Tensor, links: Tensor, weights: Tensor) -> Tensor:
        """`links`: (2, links) target and source; `weights`: (links,) chance that the target comes first."""
        end, start = links
        gate = (select_rows(self.from_target(state), end) + select_rows(self.from_source(state), start)).sigmoid()
        return scatter_sum(weights[:, None] * gate * select_rows(state, start), end, len(state))


class Sum(nn.Module):
    """The neighbours' plain sum, as in the released SE-GRN; link weights are not read."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, state: Tensor, links: Tensor, weights: Tensor) -> Tensor:
        """(sentences, width) -> (sentences, width)."""
        end, start = links
        return scatter_sum(select_rows(state, start), end, len(state))


class Weighted(nn.Module):
    """Weight times neighbour without a gate, as in the released classifiers."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, state: Tensor, links: Tensor, weights: Tensor) -> Tensor:
        """(sentences, width) -> (sentences, width)."""
        end, start = links
        return scatter_sum(weights[:, None] * select_rows(state, start), end, len(state))


class Bucketed(nn.Module):
    """A gate that sees the weight's side and tenth, as in the released ordering model.

    There a tie revealed the true order, because its side was taken from the order of the file; here a tie is a third
    side, the same in both directions.
    """

    def __init__(self, width: int, label: int = 50) -> None:
        super().__init__()
        self.from_target = nn.Linear(width, width)
        self.from_source = nn.Linear(width, width, bias=False)
        self.side = nn.Embedding(3, label)
        self.tenth = nn.Embedding(11, label)
        self.from_side = nn.Linear(label, width, bias=False)
        self.from_tenth = nn.Linear(label, width, bias=False)

    def forward(self, state: Tensor, links: Tensor, weights: Tensor) -> Tensor:
        """(sentences, width) -> (sentences, width)."""
        end, start = links
        side = (weights > 0.5).long() + 2 * (weights == 0.5).long()
        tenth = (weights * 10 + 1e-4).floor().long().clamp(0, 10)
        gate = select_rows(self.from_target(state), end) + select_rows(self.from_source(state), start)
        gate = gate + self.from_side(self.side.weight)[side] + self.from_tenth(self.tenth.weight)[tenth]
        return scatter_sum(gate.sigmoid() * select_rows(state, start), end, len(state))


LINK_MESSAGES: dict[LinkMessage, type[nn.Module]] = {
    "gated": Gated,
    "sum": Sum,
    "weighted": Weighted,
    "bucketed": Bucketed,
}


def both_directions(weights: Tensor) -> Tensor:
    """(pairs,) -> (2 pairs,) weights of all forward and all backward links, w and 1 - w."""
    return torch.cat([weights, 1 - weights])
