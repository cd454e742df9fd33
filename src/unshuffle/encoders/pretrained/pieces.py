"""A pretrained transformer over word pieces laid end to end, run in chunks of like length so that little is padding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from unshuffle.encoders.contracts import SentenceEncoder
from unshuffle.encoders.pretrained.bert import Bert, Group
from unshuffle.encoders.pretrained.loading import PretrainedConfig, freeze, load
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.segments import scatter_sum, segment_mean, segment_of

POSITIONS_AFTER_PADDING = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet"})
"""Kinds that number positions from behind their padding number on."""
TWO_SEPARATORS = POSITIONS_AFTER_PADDING | {"bart"}
"""Kinds that are trained with two separators between the sentences of a pair."""


SUMS_ARE_TOLD = hasattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu")
"""Whether this torch has the attention that also gives the logarithm of each sum; without it masks are made."""


class Pieces(nn.Module):
    """Contextual vectors of word pieces; a frozen transformer always computes as in inference."""

    def __init__(self, config: PretrainedConfig, *, words: int) -> None:
        super().__init__()
        found = load(config)
        if words > found.words:
            raise ConfigError(
                f"sentence_encoder: the tokenizer has {words} pieces and the transformer {found.words}. "
                "Use the tokenizer of the same source."
            )
        self.model = found.model
        self.budget = config.chunk_tokens
        self.padding, self.width, self.longest = found.padding, found.width, found.positions
        if found.kind in POSITIONS_AFTER_PADDING:
            self.longest -= self.padding + 1
        self.separators = 2 if found.kind in TWO_SEPARATORS else 1
        self.knows_segments = found.segments > 1
        self.frozen = freeze(found, config)
        self.train(self.training)

    def train(self, mode: bool = True) -> Pieces:
        """Never lets a frozen transformer drop anything, so what it says may be kept."""
        super().train(mode)
        if self.frozen:
            self.model.eval()
        return self

    def forward(
        self, ids: Tensor, lengths: Tensor, segments: Tensor | None = None, layers: int | None = None
    ) -> Tensor:
        """(pieces,) of sequences with these lengths, end to end -> (pieces, width).

        `layers`: only through this many of the lowest layers of a BERT.
        """
        if not len(lengths):
            return next(self.model.parameters()).new_zeros(0, self.width)
        groups = groups_of(lengths, self.budget)
        if not isinstance(self.model, Bert):
            return self._padded(ids, segments, groups)
        last = len(self.model.layers) if layers is None else layers
        segments = torch.zeros_like(ids) if segments is None else segments
        states: Tensor = self.model.embeddings(ids, position_of_piece(lengths), segments)
        return self.through(states, groups, 0, last)

    def openings(self, ids: Tensor, lengths: Tensor, segments: Tensor | None = None) -> Tensor:
        """(pieces,) -> (sequences, width) of the first piece of each; the last layer is computed for these only."""
        if not len(lengths) or not isinstance(self.model, Bert):
            all_states: Tensor = self(ids, lengths, segments)
            return all_states[(lengths.cumsum(0) - lengths)[: len(all_states)]]
        last = len(self.model.layers) - 1
        states = self(ids, lengths, segments, last)
        groups = groups_of(lengths, self.budget)
        layer = self.model.layers[last]
        together = [groups] if self.training else [[group] for group in groups]
        found: Tensor = torch.cat([layer.openings(states, some) for some in together])  # type: ignore[operator]
        return found[torch.argsort(torch.cat([group.first for group in groups]))]

    def through(
        self, states: Tensor, groups: list[Group], first: int, last: int, between: Tensor | None = None
    ) -> Tensor:
        """(pieces, width) through the layers of a BERT from `first` up to, but not including, `last`.

        `between`: (layers, heads) bias of the attention between parts of a sequence.
        """
        assert isinstance(self.model, Bert)
        if self.training:
            return self.model.run_layers(states, groups, first, last, between)
        found = [  # one group at a time bounds the memory of inference
            self.model.run_layers(states[group.position], [self._with_parts(group.alone())], first, last, between)
            for group in groups
        ]
        return in_place(found, groups)

    def _with_parts(self, group: Group) -> Group:
        """With its parts as sequences of their own, where the processor's attention tells its sums."""
        if group.part is None or group.here.device.type != "cpu" or not SUMS_ARE_TOLD:
            return group
        numbers = group.pieces(group.part[..., None]).squeeze(1)
        lengths = torch.unique_consecutive(numbers, return_counts=True)[1]
        return replace(group, inner=tuple(groups_of(lengths, self.budget)))

    def _padded(self, ids: Tensor, segments: Tensor | None, groups: list[Group]) -> Tensor:
        """Transformers of the library take padded tables."""
        found = []
        for group in groups:
            arguments: dict[str, Any] = {"attention_mask": group.here.long()}
            if segments is not None and self.knows_segments:
                arguments["token_type_ids"] = _table(segments[group.position], group.here, 0)
            output = self.model(input_ids=_table(ids[group.position], group.here, self.padding), **arguments)
            found.append(output.last_hidden_state[group.here])
        return in_place(found, groups)


def groups_of(lengths: Tensor, budget: int) -> list[Group]:
    """Sequences laid end to end, in groups of like length."""
    start = lengths.cumsum(0) - lengths
    groups = []
    for rows in chunks(lengths, budget):
        step = torch.arange(int(lengths[rows].max()), device=lengths.device)
        here = step < lengths[rows, None]  # (rows, longest)
        groups.append(Group.of((start[rows, None] + step)[here], here))
    return groups


def in_place(found: list[Tensor], groups: list[Group]) -> Tensor:
    """What was computed group by group, back in the order of the flat text."""
    joined = torch.cat(found)
    return torch.empty_like(joined).index_copy(0, torch.cat([group.position for group in groups]), joined)


def chunks(lengths: Tensor, budget: int) -> list[Tensor]:
    """Rows in groups, short ones first: a group ends when it is full, or long enough and too uneven."""
    if not len(lengths):
        return []
    order = torch.argsort(lengths, stable=True)
    first, sizes = 0, []
    by_length = lengths[order].tolist()
    for row, length in enumerate(by_length):
        rows = row - first
        uneven = rows * length >= 512 and length > 1.25 * by_length[first]
        if rows and ((rows + 1) * length > budget or uneven):
            sizes.append(rows)
            first = row
    return list(torch.split(order, [*sizes, len(by_length) - first]))


def read_pieces(lengths: Tensor, longest: int) -> Tensor:
    """(pieces,) which ones of sentences laid end to end are read: the first ones, and the mark at the end."""
    position = position_of_piece(lengths)
    return (position < longest - 1) | (position == lengths.repeat_interleave(lengths) - 1)


def position_of_piece(lengths: Tensor) -> Tensor:
    """(pieces,) the position of each piece in its own sequence."""
    sequence = segment_of(lengths)
    return torch.arange(len(sequence), device=lengths.device) - (lengths.cumsum(0) - lengths)[sequence]


def mean_over_mentions(mentions: Tensor, found: Tensor, graph: GraphBatch) -> Tensor:
    """(mentions, width) -> (entities, width): mean over those that were found, zeros for an entity without any."""
    share = found.to(mentions.dtype)[:, None]
    counts = scatter_sum(share, graph.mentions[0], graph.entities).clamp_min(1)
    return scatter_sum(mentions * share, graph.mentions[0], graph.entities) / counts


def entity_vectors(states: Tensor, mention: Tensor, piece: Tensor, graph: GraphBatch) -> Tensor:
    """(pieces, width) -> (entities, width): mean over the pieces of each mention, then over mentions.

    The released program averages occurrences within a sentence first; here all their pieces are averaged at once.
    """
    count = graph.mentions.shape[1]
    found = torch.zeros(count, dtype=torch.bool, device=mention.device).index_fill(0, mention, True)
    return mean_over_mentions(segment_mean(states[piece], mention, count), found, graph)


def _table(values: Tensor, here: Tensor, padding: int) -> Tensor:
    return torch.full(here.shape, padding, dtype=values.dtype, device=values.device).masked_scatter(here, values)


class PiecesEncoder(SentenceEncoder):
    """A sentence encoder whose word pieces come from one pretrained transformer."""

    pieces: Pieces

    def pretrained(self) -> Iterator[nn.Parameter]:
        """The transformer's."""
        return self.pieces.model.parameters()
