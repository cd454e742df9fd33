"""An LSTM over few sentences where nothing is learned: torch's own, on padded sentences.

With few rows a step costs what it takes to read the weights, so padding is free, and oneDNN's loop over words has none
of Python's share. With many rows padding costs more than that: `recurrence.py` has none.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

FEW = 16
"""Sentences up to which padding them is faster; there about half of all steps of all rows are padding."""


def padded_last_states(lstm: nn.LSTM, words: Tensor, lengths: Tensor) -> Tensor:
    """(words, width) -> (sentences, 2 hidden): the last states of both directions of a one-layer LSTM.

    The backward direction is a forward one on sentences turned round, so that neither reads padding before a word.
    """
    sentences, longest = len(lengths), int(lengths.max())
    start, last = lengths.cumsum(0) - lengths, lengths - 1
    steps = torch.arange(longest, device=words.device)[:, None]
    forward = start + torch.minimum(steps, last)  # (steps, sentences); after its end a sentence repeats its last word
    backward = start + (last - steps).clamp_min(0)
    ends = last * sentences + torch.arange(sentences, device=words.device)
    zeros = words.new_zeros(1, sentences, lstm.hidden_size)
    found = []
    for direction, positions in (("", forward), ("_reverse", backward)):
        weights = [
            cast(Tensor, getattr(lstm, f"{name}_l0{direction}"))
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        ]
        inputs = words.index_select(0, positions.flatten()).view(longest, sentences, -1)
        states, _, _ = torch.lstm(inputs, (zeros, zeros), weights, True, 1, 0.0, False, False, False)
        found.append(states.flatten(0, 1).index_select(0, ends))
    return torch.cat(found, 1)
