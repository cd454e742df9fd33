"""A transformer's memory of a batch: for the beam search step by step, for a given order all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from unshuffle.decode.search.beam import Prefix, picked
from unshuffle.decode.search.follow import Followed
from unshuffle.decode.transformer.blocks import KeyValues, PrefixDecoder

Score = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class PrefixState:
    """Each partial order's last state and what its blocks remember."""

    output: Tensor  # (rows, width)
    past: tuple[KeyValues, ...]


class PrefixMemory:
    """Sentences as the blocks read them, and the input each becomes once it is chosen."""

    def __init__(
        self,
        decoder: PrefixDecoder,
        *,
        start: Tensor,
        inputs: Tensor,
        sentences: Tensor,
        present: Tensor,
        codes: Tensor,
        score: Score,
    ) -> None:
        self.decoder = decoder
        self.start = start  # (width,)
        self.inputs = inputs  # (documents, longest, width)
        self.seen = decoder.look(sentences)
        self.mask = present[:, None, None]  # (documents, 1, 1, longest)
        self.codes = codes  # (longest, width) added to the input of each step
        self.score = score

    def begin(self) -> PrefixState:
        """Nothing but the start has been read."""
        inputs = (self.start + self.codes[0]).expand(len(self.inputs), 1, -1)
        read = self.decoder(inputs, self.seen, seen_mask=self.mask)
        return PrefixState(read.outputs[:, -1], read.past)

    def advance(self, carry: PrefixState, parent: Tensor, document: Tensor, choice: Tensor) -> PrefixState:
        """Reads the sentence chosen."""
        step = carry.past[0].keys.shape[2]
        inputs = (picked(self.inputs, document, choice) + self.codes[step])[:, None]
        past = tuple(some.rows(parent) for some in carry.past)
        seen = tuple(some.rows(document) for some in self.seen)
        read = self.decoder(inputs, seen, seen_mask=self.mask[document], past=past)
        return PrefixState(read.outputs[:, -1], read.past)

    def logits(self, carry: PrefixState, prefix: Prefix) -> Tensor:
        """(rows, longest)."""
        return self.score(carry.output, prefix.document)

    def follow(self, followed: Followed) -> Tensor:
        """(sentences, longest) score of every sentence at every choice of a given order."""
        documents, longest = self.inputs.shape[:2]
        order = followed.target.new_zeros(documents, longest)
        order[followed.document, followed.step] = followed.target
        rows = torch.arange(documents, device=order.device)[:, None]
        inputs = torch.cat([self.start.expand(documents, 1, -1), self.inputs[rows, order[:, :-1]]], 1) + self.codes
        earlier = torch.ones(longest, longest, dtype=torch.bool, device=order.device).tril()[None, None]
        read = self.decoder(inputs, self.seen, seen_mask=self.mask, own_mask=earlier).outputs
        return self.score(read[followed.document, followed.step], followed.document)
