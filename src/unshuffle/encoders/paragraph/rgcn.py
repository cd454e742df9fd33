"""Relational graph convolution over sentences, entities and the document (Ghosal et al., 2021: STaCK; CoVer)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Lt
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, ParagraphEncoder, States, paragraph_encoders
from unshuffle.encoders.messages import both_directions
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import scatter_sum, segment_mean
from unshuffle.parts.registry import PartConfig
from unshuffle.text.document import Role

BEFORE, AFTER, TO_DOCUMENT, FROM_DOCUMENT, RELATED, MENTIONED_BY = range(6)
MENTIONS = MENTIONED_BY + len(Role)
RELATIONS = MENTIONS + len(Role)


@dataclass(frozen=True, kw_only=True)
class RGCNConfig(PartConfig):
    """Relational graph convolution; the defaults are STaCK's."""

    layers: Annotated[int, Ge(1)] = 2
    width: Annotated[int, Ge(1)] = 200
    bases: Annotated[int, Ge(1)] = 2
    """Number of matrices of which each relation's is a mixture."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    """Between layers and on the sentence states."""


@dataclass(frozen=True, slots=True)
class Edges:
    """All edges of all relations; nodes are numbered sentences first, then entities, then documents."""

    end: Tensor  # (edges,)
    start: Tensor  # (edges,)
    relation: Tensor  # (edges,)
    weight: Tensor  # (edges,) a node's edges of one kind add up to 1


@paragraph_encoders.register("rgcn", RGCNConfig)
class RGCN(ParagraphEncoder):
    """Each relation has a matrix of its own: before and after (by link weight), roles of mentions, document, related.

    A link counts as both "comes before" and "comes after", in the proportion of its weight. What the decoder reads is
    [encoder vector; node state], as in STaCK. Its commonsense nodes need a generator of their own and are left out;
    its document node, an encoder without positions there, is the mean of the sentences here.
    """

    def __init__(self, config: RGCNConfig, *, width: int, entity_input: int) -> None:
        super().__init__()
        self.width = width + config.width
        self.from_sentence = nn.Linear(width, config.width)
        self.from_entity = nn.Linear(entity_input, config.width)
        self.layers = nn.ModuleList(Convolution(config.width, config.bases) for _ in range(config.layers))
        self.dropout = Dropout(config.dropout)

    def forward(self, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
        """(sentences, input), (entities, input) -> (sentences, input + width), (documents, input + width)."""
        sentences = self.from_sentence(encoded.sentences)
        documents = segment_mean(sentences, graph.document_of_sentence, graph.documents)
        nodes = torch.cat([sentences, self.from_entity(encoded.entities), documents])
        edges = edges_of(graph, weights)
        for layer in self.layers:
            nodes = self.dropout(layer(nodes, edges).relu())
        sentences, _, documents = torch.split(nodes, [graph.sentences, graph.entities, graph.documents])
        mean = segment_mean(encoded.sentences, graph.document_of_sentence, graph.documents)
        return States(encoded, torch.cat([encoded.sentences, sentences], 1), torch.cat([mean, documents], 1))


class Convolution(nn.Module):
    """h' = W h + sum over relations of the mean of W_r h_j, with W_r a mixture of bases (Schlichtkrull et al.)."""

    def __init__(self, width: int, bases: int) -> None:
        super().__init__()
        self.bases = bases
        self.own = nn.Linear(width, width)
        self.basis = nn.Linear(width, bases * width, bias=False)
        self.mixture = nn.Parameter(torch.empty(RELATIONS, bases))
        nn.init.xavier_uniform_(self.mixture)

    def forward(self, nodes: Tensor, edges: Edges) -> Tensor:
        """(nodes, width) -> (nodes, width)."""
        projected = self.basis(nodes).view(len(nodes), self.bases, -1)
        share = edges.weight[:, None] * self.mixture[edges.relation]  # (edges, bases)
        messages = torch.einsum("eb,ebw->ew", share, projected[edges.start])
        updated: Tensor = self.own(nodes) + scatter_sum(messages, edges.end, len(nodes))
        return updated


def edges_of(graph: GraphBatch, weights: Tensor) -> Edges:
    """Every edge with its share among those of its kind that reach the same node."""
    target, source = graph.links()
    chance = both_directions(weights)
    entity, sentence = graph.mentions[0] + graph.sentences, graph.mentions[1]
    node = torch.arange(graph.sentences, device=sentence.device)
    document = graph.document_of_sentence + graph.sentences + graph.entities
    one, other = torch.cat([graph.relations, graph.relations.flip(0)], 1) + graph.sentences
    nodes = graph.sentences + graph.entities + graph.documents
    role = graph.roles - 1
    kinds = [
        (target, source, torch.full_like(target, BEFORE), chance / _count(target, nodes)),
        (target, source, torch.full_like(target, AFTER), (1 - chance) / _count(target, nodes)),
        (document, node, torch.full_like(node, TO_DOCUMENT), 1 / _count(document, nodes)),
        (node, document, torch.full_like(node, FROM_DOCUMENT), torch.ones_like(node, dtype=chance.dtype)),
        (one, other, torch.full_like(one, RELATED), 1 / _count(one, nodes)),
        (entity, sentence, role + MENTIONED_BY, 1 / _count(entity * len(Role) + role, nodes * len(Role))),
        (sentence, entity, role + MENTIONS, 1 / _count(sentence * len(Role) + role, nodes * len(Role))),
    ]
    return Edges(*(torch.cat(columns) for columns in zip(*kinds, strict=True)))


def _count(target: Tensor, size: int) -> Tensor:
    """(edges,) how many edges of its kind reach each edge's target."""
    return torch.bincount(target, minlength=size)[target].float()
