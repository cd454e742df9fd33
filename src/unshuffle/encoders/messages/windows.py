"""Classifiers of which sentence follows which within a window, and the graphs they give (Zhu et al., 2021)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from unshuffle.encoders.contracts import Encoded
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import GraphBatch
from unshuffle.graph.pairs import ordered_pairs, pair_numbers


class WindowHead(nn.Module):
    """A logit for each ordered pair and window, from the pair's vector or from its two sentences."""

    def __init__(self, *, width: int, pair_width: int, windows: int) -> None:
        super().__init__()
        self.pair_width = pair_width
        if not pair_width:
            self.from_one = nn.Linear(width, width)
            self.from_other = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(pair_width or width, windows)

    def forward(self, encoded: Encoded, pairs: Tensor) -> Tensor:
        """(ordered pairs, windows)."""
        if not self.pair_width:
            one, other = pairs
            hidden = torch.tanh(self.from_one(encoded.sentences)[one] + self.from_other(encoded.sentences)[other])
        elif encoded.pairs is not None and encoded.pairs.shape[1] == self.pair_width:
            hidden = encoded.pairs
        else:
            found = 0 if encoded.pairs is None else encoded.pairs.shape[1]
            raise ConfigError(
                f"paragraph_encoder.pair_width: it is {self.pair_width}, but the sentence encoder's is {found}. "
                "Use the same width, or 0 to read sentence vectors."
            )
        logits: Tensor = self.score(hidden)
        return logits


def window_edges(chances: Tensor, graph: GraphBatch, windows: Sequence[int]) -> Tensor:
    """(ordered pairs, windows) chance that the second follows within the window -> weight of the edge, 0 for none.

    A pair predicted to follow is an edge with its chance. In the smallest window, a pair predicted not to follow is an
    edge in the other direction. Of two edges between the same sentences the stronger stays; a tie, which the released
    program resolves by the order of the file, keeps both.
    """
    one, other = ordered_pairs(graph)
    back = pair_numbers(graph, other, one)
    weights = torch.where(chances > 0.5, chances, 0.0)
    smallest = min(range(len(windows)), key=lambda window: windows[window])
    denied = torch.where(chances[:, smallest] <= 0.5, 1 - chances[:, smallest], 0.0)[back]
    columns = list(weights.unbind(1))
    columns[smallest] = torch.maximum(columns[smallest], denied)
    weights = torch.stack(columns, 1)
    return torch.where(weights >= weights[back], weights, 0.0)


def window_loss(logits: Tensor, graph: GraphBatch, place: Tensor, windows: Sequence[int]) -> Tensor:
    """Cross-entropy of 0 < distance < window, with both classes weighted equally in each window of the batch.

    The paper samples as many negatives as there are positives; weighting all of them has the same expectation.
    """
    one, other = ordered_pairs(graph)
    distance = (place[other] - place[one])[:, None]
    limits = torch.tensor(windows, device=distance.device)
    follows = (distance > 0) & (distance < limits)  # (ordered pairs, windows)
    each = binary_cross_entropy_with_logits(logits, follows.to(logits.dtype), reduction="none")
    answers = [(each * mask).sum(0) / mask.sum(0).clamp_min(1) for mask in (follows, ~follows)]
    return (answers[0] + answers[1]).mean() / 2
