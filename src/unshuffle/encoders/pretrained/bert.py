"""BERT over word pieces laid end to end: only attention is padded, and only within groups of like length.

Its parameters have the names that BERT checkpoints give them, so that any of them can be read into it; the library
they come from is not needed to run it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, gelu, scaled_dot_product_attention

from unshuffle.layers.dropout import Dropout

NOTHING = -1e4
"""Bias of what is not there: no share is left of it, and unlike infinity it is a number in every precision."""
MASK_CELLS = 1 << 25
"""Numbers of a mask that is made at once; of longer texts only some places listen at a time."""


@dataclass(frozen=True, slots=True)
class Group:
    """Sequences of like length: where their pieces stand in the flat text and in a padded table."""

    position: Tensor  # (pieces,) flat
    here: Tensor  # (rows, longest) which cells of the table are pieces
    cell: Tensor  # (pieces,) the flat cell that each stands in
    part: Tensor | None = None  # (rows, longest) number of the part of its sequence that a piece belongs to
    other: Tensor | None = None  # (rows, 1, longest, longest) 1 where two pieces belong to different parts
    inner: tuple[Group, ...] = ()  # the parts as sequences of their own; where they are known, no mask is made of them

    @classmethod
    def of(cls, position: Tensor, here: Tensor) -> Group:
        """`position` row by row."""
        return cls(position, here, here.flatten().nonzero().squeeze(1))

    def with_others(self, like: Tensor) -> Group:
        """The same, knowing which pieces belong to different parts: computed once for all layers of a training step."""
        if self.part is None:
            return self
        other = self.part[:, None, :, None] != self.part[:, None, None, :]
        return replace(self, other=other.to(like.dtype))

    @property
    def first(self) -> Tensor:
        """(rows,) the flat position of the first piece of each sequence."""
        lengths = self.here.sum(1)
        return self.position[lengths.cumsum(0) - lengths]

    def alone(self) -> Group:
        """The same where the flat text has nothing but its pieces, row by row."""
        return replace(self, position=torch.arange(len(self.position), device=self.position.device))

    def table(self, rows: Tensor) -> Tensor:
        """(all pieces, width) -> (rows, longest, width), zeros where there is none; whole rows move, no masks."""
        flat = rows.new_zeros(self.here.numel(), rows.shape[1])
        return flat.index_copy(0, self.cell, rows.index_select(0, self.position)).view(*self.here.shape, -1)

    def pieces(self, table: Tensor) -> Tensor:
        """(rows, longest, ...) -> (pieces, width)."""
        return table.reshape(self.here.numel(), -1).index_select(0, self.cell)


class Bert(nn.Module):
    """The encoder of Devlin et al. (2019) without its pooler."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        super().__init__()
        width = int(description.get("hidden_size", 768))
        inner = int(description.get("intermediate_size", 3072))
        heads = int(description.get("num_attention_heads", 12))
        epsilon = float(description.get("layer_norm_eps", 1e-12))
        dropouts = (
            float(description.get("hidden_dropout_prob", 0.1)),
            float(description.get("attention_probs_dropout_prob", 0.1)),
        )
        self.embeddings = _Embeddings(description, width, epsilon, dropouts[0])
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList(
            _Layer(width, inner, heads, epsilon, dropouts) for _ in range(int(description.get("num_hidden_layers", 12)))
        )

    @property
    def layers(self) -> nn.ModuleList:
        """The stack."""
        return self.encoder.layer  # type: ignore[return-value]

    def run_layers(
        self, states: Tensor, groups: Sequence[Group], first: int, last: int, between: Tensor | None = None
    ) -> Tensor:
        """Through the layers from `first` to before `last`; `between`: (layers, heads), for groups that have parts."""
        if self.training and between is not None:
            groups = [group.with_others(between) for group in groups]
        for number in range(first, last):
            states = self.layers[number](states, groups, None if between is None else between[number - first])
        return states


class _Embeddings(nn.Module):
    def __init__(self, description: Mapping[str, Any], width: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(int(description.get("vocab_size", 30522)), width)
        self.position_embeddings = nn.Embedding(int(description.get("max_position_embeddings", 512)), width)
        self.token_type_embeddings = nn.Embedding(int(description.get("type_vocab_size", 2)), width)
        self.LayerNorm = nn.LayerNorm(width, epsilon)
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, position: Tensor, segments: Tensor) -> Tensor:
        total = self.word_embeddings(ids) + self.position_embeddings(position) + self.token_type_embeddings(segments)
        embedded: Tensor = self.dropout(self.LayerNorm(total))
        return embedded


class _Projection(nn.Module):
    """A linear layer, dropout, the residual and a norm."""

    def __init__(self, before: int, width: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.dense = nn.Linear(before, width)
        self.LayerNorm = nn.LayerNorm(width, epsilon)
        self.dropout = Dropout(dropout)

    def forward(self, hidden: Tensor, residual: Tensor) -> Tensor:
        projected: Tensor = self.LayerNorm(self.dropout(self.dense(hidden)) + residual)
        return projected


class _Layer(nn.Module):
    def __init__(self, width: int, inner: int, heads: int, epsilon: float, dropouts: tuple[float, float]) -> None:
        super().__init__()
        self.heads, self.attention_dropout = heads, dropouts[1]
        self.attention = nn.Module()
        self.attention.self = nn.Module()
        for name in ("query", "key", "value"):
            self.attention.self.add_module(name, nn.Linear(width, width))
        self.attention.output = _Projection(width, width, epsilon, dropouts[0])
        self.intermediate = nn.Module()
        self.intermediate.dense = nn.Linear(width, inner)
        self.output = _Projection(inner, width, epsilon, dropouts[0])

    def forward(self, states: Tensor, groups: Sequence[Group], between: Tensor | None = None) -> Tensor:
        return self._answer(self._attend(states, groups, between), states)

    def _answer(self, heard: Tensor, states: Tensor) -> Tensor:
        states = self.attention.output(heard, states)  # type: ignore[operator]
        inner = gelu(self.intermediate.dense(states))  # type: ignore[operator]
        answered: Tensor = self.output(inner, states)
        return answered

    def openings(self, states: Tensor, groups: Sequence[Group]) -> Tensor:
        """(sequences, width) the first piece of each sequence, group by group; the others speak but do not hear."""
        own = self.attention.self
        key, value = (getattr(own, name)(states) for name in ("key", "value"))
        first = states.index_select(0, torch.cat([group.first for group in groups]))
        queries = torch.split(getattr(own, "query")(first), [len(group.here) for group in groups])  # noqa: B009
        heard = []
        for group, query in zip(groups, queries, strict=True):
            rows, longest = group.here.shape
            asked = query.view(rows, self.heads, 1, -1)
            keys, values = (
                group.table(part).view(rows, longest, self.heads, -1).transpose(1, 2) for part in (key, value)
            )
            if self.training:
                answer = self._attend_in_training(asked, keys, values, group, None)
            else:
                answer = scaled_dot_product_attention(asked, keys, values, attn_mask=group.here[:, None, None, :])
            heard.append(answer.reshape(rows, -1))
        return self._answer(torch.cat(heard), first)

    def _attend(self, states: Tensor, groups: Sequence[Group], between: Tensor | None) -> Tensor:
        """Each piece hears the pieces of its own sequence; `between`: (heads,) what those of other parts get on top."""
        own = self.attention.self
        parts = [getattr(own, name)(states) for name in ("query", "key", "value")]
        heard = []
        for group in groups:
            if group.inner and between is not None:
                heard.append(attention_with_bias((parts[0], parts[1], parts[2]), group, between))
                continue
            rows, longest = group.here.shape
            query, key, value = (
                group.table(part).view(rows, longest, self.heads, -1).transpose(1, 2) for part in parts
            )
            if self.training:
                answer = self._attend_in_training(query, key, value, group, between)
            else:
                step = longest if between is None else max(1, MASK_CELLS // (rows * self.heads * longest))
                masks = _masks(group, between, step)
                answer = torch.cat(
                    [
                        scaled_dot_product_attention(some, key, value, attn_mask=mask)
                        for some, mask in zip(torch.split(query, step, 2), masks, strict=True)
                    ],
                    2,
                )
            heard.append(group.pieces(answer.transpose(1, 2)))
        order = torch.cat([group.position for group in groups])
        found = torch.cat(heard)
        return torch.empty_like(found).index_copy(0, order, found)

    def _attend_in_training(
        self, query: Tensor, key: Tensor, value: Tensor, group: Group, between: Tensor | None
    ) -> Tensor:
        """Attention spelled out, with a learned bias: torch's own has no fast gradient for short rows or for a bias."""
        (rows, heads, asked, size), longest = query.shape, key.shape[2]
        bias = torch.where(group.here, 0.0, NOTHING)[:, None, None, :].to(query.dtype)  # (rows, 1, 1, longest)
        if group.other is None or between is None:
            bias = bias.expand(rows, heads, 1, longest).reshape(rows * heads, 1, longest)
        else:
            step = between.to(query.dtype)[:, None, None]
            bias = torch.addcmul(bias, group.other.to(query.dtype), step).view(rows * heads, longest, longest)
        query, key, value = (part.reshape(rows * heads, -1, size) for part in (query, key, value))
        shares = torch.baddbmm(bias, query, key.transpose(1, 2), alpha=size**-0.5).softmax(-1)
        shares = dropout(shares, self.attention_dropout)
        return torch.bmm(shares, value).view(rows, heads, asked, size)


def attention_with_bias(parts: tuple[Tensor, Tensor, Tensor], group: Group, between: Tensor) -> Tensor:
    """What pieces hear of their sequence, those of other parts with `between` on top: (pieces, width), for inference.

    With a = exp(between), the sum over a sequence is a times the sum over all its pieces plus 1 - a times that over the
    piece's own part: two plain attentions and their logarithmic sums, and no mask of all pairs.
    """
    here = tuple(part[group.position] for part in parts)  # query, key and value: (pieces, width)
    everyone, total = _attended(here, [group.alone()], len(between))
    own, share = _attended(here, group.inner, len(between))
    rest = 1 - between.exp()  # (heads,)
    first, second = between + total, rest.abs().log() + share
    most = torch.maximum(first, second)
    first, second = (first - most).exp(), rest.sign() * (second - most).exp()  # (pieces, heads)
    mixed = first[..., None] * everyone + second[..., None] * own
    return (mixed / (first + second)[..., None]).flatten(1)


def _attended(parts: tuple[Tensor, ...], groups: Sequence[Group], heads: int) -> tuple[Tensor, Tensor]:
    """Plain attention within sequences: (pieces, heads, size), and the logarithm of each sum, (pieces, heads)."""
    answers, sums = [], []
    for group in groups:
        rows, longest = group.here.shape
        query, key, value = (group.table(part).view(rows, longest, heads, -1).transpose(1, 2) for part in parts)
        nothing = torch.where(group.here, 0.0, float("-inf"))[:, None, None, :]
        answer, total = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, attn_mask=None if len(group.cell) == group.here.numel() else nothing
        )
        answers.append(group.pieces(answer.transpose(1, 2)))
        sums.append(group.pieces(total.transpose(1, 2)))
    order = torch.cat([group.position for group in groups])
    answer, total = torch.cat(answers), torch.cat(sums)
    answer = torch.empty_like(answer).index_copy(0, order, answer)
    return answer.view(len(answer), heads, -1), torch.empty_like(total).index_copy(0, order, total)


def _masks(group: Group, between: Tensor | None, step: int) -> Iterator[Tensor | None]:
    """What may be heard by each `step` places of a table."""
    if group.part is None or between is None:
        yield None if len(group.cell) == group.here.numel() else group.here[:, None, None, :]
        return
    nothing = torch.where(group.here, 0.0, float("-inf"))[:, None, None, :]
    for some in torch.split(group.part, step, 1):
        same = some[:, None, :, None] == group.part[:, None, None, :]
        yield torch.where(same, 0.0, between[:, None, None]) + nothing  # (rows, heads, step, longest)
