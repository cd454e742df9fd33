"""What all sentence encoders on a pretrained transformer share."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from unshuffle.encoders.contracts import SentenceEncoder
from unshuffle.encoders.pretrained.pieces import Pieces


class PiecesEncoder(SentenceEncoder):
    """A sentence encoder whose word pieces come from one pretrained transformer."""

    pieces: Pieces

    def pretrained(self) -> Iterator[nn.Parameter]:
        """The transformer's."""
        return self.pieces.model.parameters()
