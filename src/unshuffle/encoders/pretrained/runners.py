"""Other ways through the layers of a BERT: what they are given, and what they must give back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from unshuffle.encoders.pretrained.bert import Bert

if TYPE_CHECKING:
    from unshuffle.encoders.pretrained.pieces import Pieces

UNHEARD = -1e9
"""Added to what attention thinks of an empty cell; finite, so that a row without any piece is still numbers."""


@dataclass(frozen=True, slots=True)
class LayerRange:
    """Consecutive layers of a BERT."""

    model: Bert
    first: int
    last: int
    """The first layer that is no longer one of them."""
    apart: Tensor | None = None  # (layers, heads) what pieces of other parts of a sequence get on top

    @classmethod
    def whole(cls, model: Bert) -> LayerRange:
        """All layers, in sequences without parts."""
        return cls(model, 0, len(model.layers))

    @property
    def layers(self) -> list[tuple[Any, Tensor | None]]:
        """Each layer, and what its (heads,) add between parts."""
        own = list(self.model.layers)[self.first : self.last]
        return list(zip(own, [None] * len(own) if self.apart is None else list(self.apart), strict=True))


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the pieces of a group stand in a padded table, as numbers: graphs are made for any sizes of them."""

    cells: Tensor  # (rows, longest) the piece in each cell, 0 where there is none
    mask: Tensor  # (rows, 1, 1, longest) added to the attention that a cell gets
    place: Tensor  # (pieces,) the cell of each piece
    other: Tensor | None = None  # (rows, 1, longest, longest) 1 where two cells are of different parts, else 0

    @classmethod
    def of(cls, here: Tensor, part: Tensor | None = None) -> Layout:
        """(rows, longest) which cells are pieces, and of which part of their sequence."""
        place = here.flatten().nonzero().squeeze(1)
        cells = torch.zeros(here.numel(), dtype=torch.long, device=here.device)
        cells[place] = torch.arange(len(place), device=here.device)
        mask = torch.where(here, 0.0, UNHEARD)[:, None, None, :]
        other = None if part is None else (part[:, None, :, None] != part[:, None, None, :]).float()
        return cls(cells.view_as(here), mask, place, other)


class Runner(Protocol):
    """All layers of a range at once."""

    def __call__(self, states: Tensor, layout: Layout) -> Tensor:
        """(pieces, width) embedded -> (pieces, width)."""
        ...


@dataclass(frozen=True, slots=True)
class Runnable:
    """Layers that a runner can stand in for, and whose they are."""

    pieces: Pieces
    layers: LayerRange

    def run_by(self, runner: Runner) -> None:
        """From now on, and until the weights change."""
        self.pieces.runners[self.layers.first, self.layers.last] = runner
