"""The layers of a BERT as machine code that torch makes for this processor."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from unshuffle.encoders.pretrained.runners import Layout, Stretch
from unshuffle.errors import ConfigError


class Compiled:
    """Runs one compiled layer for each of the stack: they differ in their numbers only."""

    def __init__(self, stretch: Stretch) -> None:
        """Compiles at once, so that what is missing is said before the first document."""
        if shutil.which(compiler()) is None:
            raise ConfigError(
                f"compile: there is no C++ compiler '{compiler()}'. Install one (Debian: apt-get install g++), "
                "name yours in CXX, or leave compile out."
            )
        self._layers = stretch.layers
        self._step = torch.compile(_layer, dynamic=True)
        width = stretch.model.embeddings.word_embeddings.embedding_dim
        try:
            with torch.inference_mode():
                device = next(stretch.model.parameters()).device
                here = torch.tensor([[True, True, True], [True, True, False]], device=device)
                self(torch.zeros(5, width, device=device), Layout.of(here, None if stretch.apart is None else ~here))
        except Exception as error:  # of many kinds: no header files, no room, a processor it does not know
            reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise ConfigError(
                f"compile: torch could not compile the encoder here ({reason[:200]}). Leave compile out."
            ) from error

    def __call__(self, states: Tensor, layout: Layout) -> Tensor:
        """(pieces, width) -> (pieces, width)."""
        for layer, apart in self._layers:
            mask = layout.mask
            if apart is not None and layout.other is not None:
                mask = mask + layout.other * apart[:, None, None]  # (rows, heads, longest, longest)
            states = self._step(layer, states, layout.cells, mask, layout.place)
        return states


def compiler() -> str:
    """The C++ compiler that torch would call."""
    usual = {"darwin": "clang++", "win32": "cl"}.get(sys.platform, "g++")
    return os.environ.get("CXX", usual)


def _layer(layer: Any, states: Tensor, cells: Tensor, mask: Tensor, place: Tensor) -> Tensor:
    """As the layer's own `forward`, without anything whose size depends on the content of a tensor."""
    rows, longest = cells.shape

    def table(part: nn.Module) -> Tensor:
        found: Tensor = part(states).index_select(0, cells.flatten())
        return found.view(rows, longest, layer.heads, -1).transpose(1, 2)

    own = layer.attention.self
    heard = scaled_dot_product_attention(table(own.query), table(own.key), table(own.value), attn_mask=mask)
    flat = heard.transpose(1, 2).reshape(rows * longest, -1).index_select(0, place)
    states = layer.attention.output(flat, states)
    answered: Tensor = layer.output(gelu(layer.intermediate.dense(states)), states)
    return answered
