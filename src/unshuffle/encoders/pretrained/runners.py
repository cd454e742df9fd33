"""Other ways through the layers of a BERT: what they are given, and what they must give back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from unshuffle.encoders.pretrained.bert import Bert

UNHEARD = -1e9
"""Added to what attention thinks of an empty cell; finite, so that a row without any piece is still numbers."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some layers of a BERT in a row."""

    model: Bert
    first: int
    last: int
    """Not one of them any more."""
    apart: Tensor | None = None  # (layers, heads) what pieces of other parts of a sequence get on top

    @classmethod
    def whole(cls, model: Bert) -> Stretch:
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
        # A compiled graph is made once for all sizes, but anew for a size of one.
        empty = here.new_zeros(max(2, len(here)), max(2, here.shape[1]))
        empty[: len(here), : here.shape[1]] = here
        place = empty.flatten().nonzero().squeeze(1)
        cells = torch.zeros(empty.numel(), dtype=torch.long, device=here.device)
        cells[place] = torch.arange(len(place), device=here.device)
        mask = torch.where(empty, 0.0, UNHEARD)
        return cls(cells.view_as(empty), mask[:, None, None, :], place, None if part is None else _other(part, empty))


def _other(part: Tensor, cells: Tensor) -> Tensor:
    whole = part.new_zeros(cells.shape)
    whole[: len(part), : part.shape[1]] = part
    return (whole[:, None, :, None] != whole[:, None, None, :]).float()


class Runner(Protocol):
    """All layers of a stretch at once."""

    def __call__(self, states: Tensor, layout: Layout) -> Tensor:
        """(pieces, width) embedded -> (pieces, width)."""
        ...
