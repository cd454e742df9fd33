"""Two sentences as one sequence, [CLS] one [SEP] other [SEP], cut fairly, for all ordered pairs at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unshuffle.encoders.pretrained.pieces import position_of_piece
from unshuffle.graph.batch import Tokens
from unshuffle.layers.segments import segment_of


@dataclass(frozen=True, slots=True)
class PairText:
    """The sequences of all pairs, end to end."""

    lengths: Tensor  # (pairs,)
    pair: Tensor  # (pieces,)
    half: Tensor  # (pieces,) 0 up to the last separator between the two sentences, 1 behind it
    word: Tensor  # (pieces,) the flat word of the tokens that stands here
    opening: Tensor  # (pieces,) whether this is the [CLS] of its pair

    @classmethod
    def of(cls, tokens: Tokens, pairs: Tensor, *, longest: int, separators: int) -> PairText:
        """`pairs`: (2, pairs) sentences; each brings its own [CLS] at its start and [SEP] at its end."""
        one, other = tokens.distinct[pairs]
        start = tokens.lengths.cumsum(0) - tokens.lengths
        last = start + tokens.lengths - 1
        body = (tokens.lengths - 2).clamp_min(0)
        first, second = shared_fairly(body[one], body[other], longest - 2 - separators)
        lengths = first + second + separators + 2
        pair, position = segment_of(lengths), position_of_piece(lengths)
        after_one = (1 + first)[pair]
        begin = after_one + separators  # of the other sentence's body
        half = (position >= begin).long()
        in_one = start[one][pair] + position
        in_other = start[other][pair] + 1 + position - begin
        word = torch.where(position < after_one, in_one, last[one][pair])
        word = torch.where(half > 0, in_other, word)
        word = torch.where(position == lengths[pair] - 1, last[other][pair], word)
        return cls(lengths, pair, half, word, position == 0)


def shared_fairly(one: Tensor, other: Tensor, room: int) -> tuple[Tensor, Tensor]:
    """How much of each may stay: what the shorter leaves of its half goes to the longer, whichever stands first."""
    half = room // 2
    kept_one = torch.minimum(one, (room - other).clamp_min(half))
    kept_other = torch.minimum(other, (room - one).clamp_min(half))
    return kept_one, kept_other
