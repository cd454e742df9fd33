"""The graph recurrent network node by node, from the paper's equations and reference-facts 2.2 to 2.4."""

import math

import torch
from torch import Tensor, nn

from unshuffle.encoders.messages import Bucketed, Gated
from unshuffle.encoders.paragraph.grn import GRN
from unshuffle.graph.build import Graph
from unshuffle.layers.gru import SplitGRU


def gru(update: SplitGRU, inputs: list[Tensor], state: Tensor) -> Tensor:
    """Torch's own cell on the concatenated input."""
    cell = nn.GRUCell(sum(len(part) for part in inputs), update.width)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.cat([part.weight for part in update.parts], 1))
        cell.bias_ih.copy_(update.parts[0].bias)
        cell.weight_hh.copy_(update.hidden.weight)
        cell.bias_hh.copy_(torch.cat([torch.zeros(2 * update.width), update.candidate_bias]))
    return cell(torch.cat(inputs)[None], state[None])[0]


def gate(layers: list[nn.Linear], inputs: list[Tensor]) -> Tensor:
    """sigmoid(W [inputs] + b); the bias is the first layer's."""
    matrix = torch.cat([layer.weight for layer in layers], 1)
    return torch.sigmoid(matrix @ torch.cat(inputs) + layers[0].bias)


def link_message(grn: GRN, one: Tensor, other: Tensor, weight: float) -> Tensor:
    """What the sentence `one` hears of `other`; `weight`: chance that `one` comes first."""
    links = grn.links
    kind = grn.config.link_message
    if kind == "gated":
        assert isinstance(links, Gated)
        return weight * gate([links.from_target, links.from_source], [one, other]) * other
    if kind == "sum":
        return other
    if kind == "weighted":
        return weight * other
    assert isinstance(links, Bucketed)
    side = links.side.weight[2 if weight == 0.5 else int(weight > 0.5)]
    tenth = links.tenth.weight[min(10, math.floor(10 * weight + 1e-4))]
    layers = [links.from_target, links.from_source, links.from_side, links.from_tenth]
    return gate(layers, [one, other, side, tenth]) * other


Pair = tuple[int, int]


class Edges:
    """The edges of one document, looked up by their two nodes."""

    def __init__(self, grn: GRN, graph: Graph, weights: Tensor) -> None:
        rows = zip(graph.mentions.T.tolist(), graph.roles.tolist(), strict=True)
        self.roles: dict[Pair, Tensor] = {(entity, i): grn.roles.weight[role] for (entity, i), role in rows}
        self.linked: dict[Pair, float] = {}
        for (one, other), weight in zip(graph.pairs.T.tolist(), weights.tolist(), strict=True):
            self.linked[one, other], self.linked[other, one] = weight, 1 - weight
        self.similar: dict[Pair, float] = {}
        for (one, other), similarity in zip(graph.relations.T.tolist(), graph.similarity.tolist(), strict=True):
            self.similar[one, other] = self.similar[other, one] = similarity


def run(grn: GRN, sentences: Tensor, entities: Tensor, graph: Graph, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Final sentence states and document state of one document."""
    config, width = grn.config, grn.width
    edges = Edges(grn, graph, weights)
    kappa = [torch.zeros(width)] * graph.sentences
    epsilon = [torch.zeros(config.entity_width)] * len(graph.words)
    if grn.entity_start is not None:
        kappa = list(sentences)
        epsilon = [grn.entity_start(entity) for entity in entities]
    g = torch.zeros(width)
    for _ in range(config.steps):
        new_kappa = [
            gru(grn.sentence_update, [sentences[i], *_heard_by_sentence(grn, kappa, epsilon, edges, i), g], kappa[i])
            for i in range(len(kappa))
        ]
        new_epsilon = []
        for j in range(len(epsilon)):
            inputs = [entities[j], _heard_by_entity(grn, kappa, epsilon, edges, j), g]
            if grn.relations is not None:
                inputs.append(_relation_message(grn, epsilon, edges.similar, j))
            new_epsilon.append(gru(grn.entity_update, inputs, epsilon[j]))
        kappa, epsilon = new_kappa, new_epsilon
        total = sum(epsilon, torch.zeros(config.entity_width))
        g = gru(grn.document_update, [torch.stack(kappa).mean(0), total / (len(epsilon) + 1)], g)
    return torch.stack(kappa), g


def _heard_by_sentence(grn: GRN, kappa: list[Tensor], epsilon: list[Tensor], edges: Edges, i: int) -> list[Tensor]:
    """The messages of linked sentences and of the sentence's entities."""
    m = torch.zeros(grn.width)
    for other in range(len(kappa)):
        if (i, other) in edges.linked:
            m = m + link_message(grn, kappa[i], kappa[other], edges.linked[i, other])
    told = grn.to_sentences
    m_hat = torch.zeros(grn.config.entity_width + grn.config.role_width)
    for j in range(len(epsilon)):
        if (j, i) in edges.roles:
            role = edges.roles[j, i]
            opened = gate([told.from_target, told.from_source, told.from_role], [kappa[i], epsilon[j], role])
            m_hat = m_hat + opened * torch.cat([epsilon[j], role])
    return [m, m_hat]


def _heard_by_entity(grn: GRN, kappa: list[Tensor], epsilon: list[Tensor], edges: Edges, j: int) -> Tensor:
    """The messages of the sentences that mention an entity."""
    told = grn.to_entities
    m = torch.zeros(grn.width + grn.config.role_width)
    for i in range(len(kappa)):
        if (j, i) in edges.roles:
            role = edges.roles[j, i]
            opened = gate([told.from_target, told.from_source, told.from_role], [epsilon[j], kappa[i], role])
            m = m + opened * torch.cat([kappa[i], role])
    return m


def _relation_message(grn: GRN, epsilon: list[Tensor], similar: dict[tuple[int, int], float], j: int) -> Tensor:
    """The neighbours' states, each through a gate that knows its share of the similarities (the advice of 8.1)."""
    told = grn.relations
    assert told is not None
    near = [other for other in range(len(epsilon)) if (j, other) in similar]
    total = sum(similar[j, other] for other in near)
    message = torch.zeros(grn.config.entity_width)
    for other in near:
        score = told.from_target(epsilon[j]) + told.from_source(epsilon[other])
        score = score + told.similarity_scale * math.log(similar[j, other] / total)
        message = message + torch.sigmoid(score) * epsilon[other]
    return message
