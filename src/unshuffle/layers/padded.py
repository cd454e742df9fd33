"""A bidirectional LSTM over few sentences where nothing is learned: oneDNN's, on padded sentences.

With few rows a step costs what it takes to read the weights, so padding is free, and oneDNN's loop over words has none
of Python's share. With many rows padding costs more than that: `recurrence.py` has none.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from unshuffle.layers.products import LaidOut, product_type

FEW = 16
"""Sentences up to which padding them is faster; there about half of all steps of all rows are padding."""
LSTM_MODE = 2
"""The number of LSTMs among oneDNN's recurrent layers."""


class PaddedLSTM:
    """Reads sentences with the weights of a one-layer bidirectional LSTM; belongs to the module that has it."""

    def __init__(self) -> None:
        self._directions = {name: LaidOut[list[Tensor]]() for name in ("", "_reverse")}

    def last_states(self, lstm: nn.LSTM, words: Tensor, lengths: Tensor) -> Tensor | None:
        """(words, width) -> (sentences, 2 hidden): the last states of both directions; None where it does not serve.

        The backward direction is a forward one on sentences turned round, so that neither reads padding before a word.
        """
        sentences = len(lengths)
        if sentences > FEW or words.dtype != torch.float32:
            return None
        start, last = lengths.cumsum(0) - lengths, lengths - 1
        steps = torch.arange(int(lengths.max()), device=words.device)[:, None]
        # (steps, sentences): after its end a sentence repeats its last word
        positions = {"": start + torch.minimum(steps, last), "_reverse": start + (last - steps).clamp_min(0)}
        ends = last * sentences + torch.arange(sentences, device=words.device)
        found = []
        for direction, laid_out in self._directions.items():
            inputs = words.index_select(0, positions[direction].flatten()).view(len(steps), sentences, -1)
            states = _states(lstm, direction, laid_out, inputs)
            if states is None:
                return None
            found.append(states.flatten(0, 1).index_select(0, ends))
        return torch.cat(found, 1)


def _states(lstm: nn.LSTM, direction: str, laid_out: LaidOut[list[Tensor]], inputs: Tensor) -> Tensor | None:
    """(steps, sentences, width) -> (steps, sentences, hidden)."""
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    from_word, recurrent, *biases = (cast(Tensor, getattr(lstm, f"{name}_l0{direction}")) for name in names)
    width = lstm.hidden_size

    def make(from_word: Tensor, recurrent: Tensor) -> list[Tensor]:
        laid: list[Tensor] = torch.ops.mkldnn._reorder_mkldnn_rnn_layer_weight(
            from_word, recurrent, width, False, True, False, list(inputs.shape)
        )
        return laid

    weights = laid_out.get(make, from_word, recurrent)
    if weights is None:
        return None
    kind = product_type()
    zeros = inputs.new_zeros(inputs.shape[1], width, dtype=kind)
    offsets = (bias.to(kind) for bias in biases)
    found: tuple[Tensor, ...] = torch.ops.aten.mkldnn_rnn_layer(
        inputs.to(kind), *weights, *offsets, zeros, zeros, False, [], LSTM_MODE, width, 1, True, False, False, False
    )
    return found[0].float()
