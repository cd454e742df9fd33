"""What nodes of the graph tell each other: along links, along mentions, and within windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from unshuffle.encoders.contracts import Encoded
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import GraphBatch, ordered_pairs, pair_numbers
from unshuffle.layers.products import Linear
from unshuffle.layers.segments import scatter_sum, select_rows

LinkMessage = Literal["gated", "sum", "weighted", "bucketed"]


class Gated(nn.Module):
    """Weight times gate times neighbour (Lai et al., 4.3)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.from_target = Linear(width, width)
        self.from_source = Linear(width, width, bias=False)

    def forward(self, state: Tensor, links: Tensor, weights: Tensor) -> Tensor:
        """`links`: (2, links) target and source; `weights`: (links,) chance that the target comes first."""
        end, start = links
        gate = (select_rows(self.from_target(state), end) + select_rows(self.from_source(state), start)).sigmoid()
        return scatter_sum(weights[:, None] * gate * select_rows(state, start), end, len(state))


class Sum(nn.Module):
    """The neighbours' plain sum, as in the released SE-GRN; link weights are not read."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, state: Tensor, links: Tensor, weights: Tensor) -> Tensor:
        """(sentences, width) -> (sentences, width)."""
        end, start = links
        return scatter_sum(select_rows(state, start), end, len(state))


class Weighted(nn.Module):
    """Weight times neighbour without a gate, as in the released classifiers."""

    def __init__(self, width: int) -> None:
        super().__init__()

    def forward(self, state: Tensor, links: Tensor, weights: Tensor) -> Tensor:
        """(sentences, width) -> (sentences, width)."""
        end, start = links
        return scatter_sum(weights[:, None] * select_rows(state, start), end, len(state))


class Bucketed(nn.Module):
    """A gate that sees the weight's side and tenth, as in the released ordering model.

    There a tie revealed the true order, because its side was taken from the order of the file; here a tie is a third
    side, the same in both directions.
    """

    def __init__(self, width: int, label: int = 50) -> None:
        super().__init__()
        self.from_target = Linear(width, width)
        self.from_source = Linear(width, width, bias=False)
        self.side = nn.Embedding(3, label)
        self.tenth = nn.Embedding(11, label)
        self.from_side = Linear(label, width, bias=False)
        self.from_tenth = Linear(label, width, bias=False)

    def forward(self, state: Tensor, links: Tensor, weights: Tensor) -> Tensor:
        """(sentences, width) -> (sentences, width)."""
        end, start = links
        side = (weights > 0.5).long() + 2 * (weights == 0.5).long()
        tenth = (weights * 10 + 1e-4).floor().long().clamp(0, 10)
        gate = select_rows(self.from_target(state), end) + select_rows(self.from_source(state), start)
        gate = gate + self.from_side(self.side.weight)[side] + self.from_tenth(self.tenth.weight)[tenth]
        return scatter_sum(gate.sigmoid() * select_rows(state, start), end, len(state))


LINK_MESSAGES: dict[LinkMessage, type[nn.Module]] = {
    "gated": Gated,
    "sum": Sum,
    "weighted": Weighted,
    "bucketed": Bucketed,
}


def both_directions(weights: Tensor) -> Tensor:
    """(pairs,) -> (2 pairs,) weights of all forward and all backward links, w and 1 - w."""
    return torch.cat([weights, 1 - weights])


class MentionMessages(nn.Module):
    """Along each mention the source sends [state; role] through a gate that also reads the target (Lai et al., 3.2)."""

    def __init__(self, *, target: int, source: int, role: int) -> None:
        super().__init__()
        self.source_width = source
        self.width = source + role
        self.from_target = Linear(target, self.width)
        self.from_source = Linear(source, self.width, bias=False)
        self.from_role = Linear(role, self.width, bias=False)

    def forward(self, target: Tensor, source: Tensor, edges: Tensor, roles: Tensor, role_vectors: Tensor) -> Tensor:
        """`edges`: (2, mentions) target and source of each; gives (targets, source + role)."""
        end, start = edges
        gate = select_rows(self.from_target(target), end) + select_rows(self.from_source(source), start)
        gate = gate + select_rows(self.from_role(role_vectors), roles)
        content = torch.cat([select_rows(source, start), select_rows(role_vectors, roles)], 1)
        return scatter_sum(gate.sigmoid() * content, end, len(target))

    def from_zero(self, role_vectors: Tensor) -> Tensor:
        """(roles, source + role): the message of a mention of each role while all states are zero."""
        gate = (self.from_role(role_vectors) + self.from_target.bias).sigmoid()[:, self.source_width :]
        return nn.functional.pad(gate * role_vectors, (self.source_width, 0))


class RelationMessages(nn.Module):
    """Related entities send their states through a gate that reads how similar they are (Yin et al., JAIR 2021).

    The paper's equation sends an entity its own state; the neighbour's is surely meant, and is sent here.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.from_target = Linear(width, width)
        self.from_source = Linear(width, width, bias=False)
        self.similarity_scale = nn.Parameter(torch.zeros(()))

    def forward(self, state: Tensor, graph: GraphBatch) -> Tensor:
        """(entities, width) -> (entities, width)."""
        end, start = torch.cat([graph.relations, graph.relations.flip(0)], 1)
        similarity = torch.cat([graph.similarity, graph.similarity]).clamp_min(1e-9)
        share = similarity / scatter_sum(similarity, end, len(state)).clamp_min(1e-9)[end]
        gate = select_rows(self.from_target(state), end) + select_rows(self.from_source(state), start)
        gate = (gate + self.similarity_scale * share.log()[:, None]).sigmoid()
        return scatter_sum(gate * select_rows(state, start), end, len(state))


class WindowHead(nn.Module):
    """A logit for each ordered pair and window, from the pair's vector or from its two sentences."""

    def __init__(self, *, width: int, pair_width: int, windows: int) -> None:
        super().__init__()
        self.pair_width = pair_width
        if not pair_width:
            self.from_one = Linear(width, width)
            self.from_other = Linear(width, width, bias=False)
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


def window_loss(logits: Tensor, graph: GraphBatch, position: Tensor, windows: Sequence[int]) -> Tensor:
    """Cross-entropy of 0 < distance < window, with both classes weighted equally in each window of the batch.

    The paper samples as many negatives as there are positives; weighting all of them has the same expectation.
    """
    one, other = ordered_pairs(graph)
    distance = (position[other] - position[one])[:, None]
    limits = torch.tensor(windows, device=distance.device)
    follows = (distance > 0) & (distance < limits)  # (ordered pairs, windows)
    each = binary_cross_entropy_with_logits(logits, follows.to(logits.dtype), reduction="none")
    answers = [(each * mask).sum(0) / mask.sum(0).clamp_min(1) for mask in (follows, ~follows)]
    return (answers[0] + answers[1]).mean() / 2
