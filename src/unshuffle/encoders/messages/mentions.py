"""Messages along mentions and relations; a gate on a concatenation is computed as a sum of one term per node."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.segments import scatter_sum, select_rows


class MentionMessages(nn.Module):
    """Along each mention the source sends [state; role] through a gate that also reads the target (Lai et al., 3.2)."""

    def __init__(self, *, target: int, source: int, role: int) -> None:
        super().__init__()
        self.source_width = source
        self.width = source + role
        self.from_target = nn.Linear(target, self.width)
        self.from_source = nn.Linear(source, self.width, bias=False)
        self.from_role = nn.Linear(role, self.width, bias=False)

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
        self.from_target = nn.Linear(width, width)
        self.from_source = nn.Linear(width, width, bias=False)
        self.similarity_scale = nn.Parameter(torch.zeros(()))

    def forward(self, state: Tensor, graph: GraphBatch) -> Tensor:
        """(entities, width) -> (entities, width)."""
        end, start = torch.cat([graph.relations, graph.relations.flip(0)], 1)
        similarity = torch.cat([graph.similarity, graph.similarity]).clamp_min(1e-9)
        share = similarity / scatter_sum(similarity, end, len(state)).clamp_min(1e-9)[end]
        gate = select_rows(self.from_target(state), end) + select_rows(self.from_source(state), start)
        gate = (gate + self.similarity_scale * share.log()[:, None]).sigmoid()
        return scatter_sum(gate * select_rows(state, start), end, len(state))
