"""Other ways through the layers of a BERT: what they are given, and what they must give back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

UNHEARD = -1e9
"""Added to what attention thinks of an empty cell; finite, so that a row without any piece is still numbers."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the pieces of a group stand in a padded table, as numbers: graphs are made for any sizes of them."""

    cells: Tensor  # (rows, longest) the piece in each cell, 0 where there is none
    mask: Tensor  # (rows, 1, 1, longest) added to the attention that a cell gets
    place: Tensor  # (pieces,) the cell of each piece

    @classmethod
    def of(cls, here: Tensor) -> Layout:
        """(rows, longest) which cells are pieces."""
        # A compiled graph is made once for all sizes, but anew for a size of one.
        empty = here.new_zeros(max(2, len(here)), max(2, here.shape[1]))
        empty[: len(here), : here.shape[1]] = here
        place = empty.flatten().nonzero().squeeze(1)
        cells = torch.zeros(empty.numel(), dtype=torch.long, device=here.device)
        cells[place] = torch.arange(len(place), device=here.device)
        mask = torch.where(empty, 0.0, UNHEARD)
        return cls(cells.view_as(empty), mask[:, None, None, :], place)


class Runner(Protocol):
    """All layers at once."""

    def __call__(self, states: Tensor, layout: Layout) -> Tensor:
        """(pieces, width) embedded -> (pieces, width)."""
        ...
