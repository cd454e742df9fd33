"""The graph recurrent network node by node, from the paper's equations and reference-facts 2.2 to 2.4."""

import math

import torch
from torch import Tensor, nn

from unshuffle.encoders.paragraph.grn import GRN
from unshuffle.encoders.paragraph.gru import SplitGRU
from unshuffle.encoders.paragraph.links import Bucketed, Gated
from unshuffle.graph.build import Graph


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


def run(grn: GRN, sentences: Tensor, entities: Tensor, graph: Graph, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Final sentence states and document state of one document."""
    config, width = grn.config, grn.width
    size, count = graph.sentences, len(graph.words)
    roles = {
        (int(e), int(s)): grn.roles.weight[int(r)] for (e, s), r in zip(graph.mentions.T, graph.roles, strict=True)
    }
    linked = {}
    for (one, other), weight in zip(graph.pairs.T.tolist(), weights.tolist(), strict=True):
        linked[one, other], linked[other, one] = weight, 1 - weight
    similar = {}
    for (one, other), similarity in zip(graph.relations.T.tolist(), graph.similarity.tolist(), strict=True):
        similar[one, other] = similar[other, one] = similarity
    kappa = [torch.zeros(width)] * size
    epsilon = [torch.zeros(config.entity_width)] * count
    if grn.entity_start is not None:
        kappa = list(sentences)
        epsilon = [grn.entity_start(entity) for entity in entities]
    g = torch.zeros(width)
    for _ in range(config.steps):
        new_kappa, new_epsilon = [], []
        for i in range(size):
            m = torch.zeros(width)
            for other in range(size):
                if (i, other) in linked:
                    m = m + link_message(grn, kappa[i], kappa[other], linked[i, other])
            m_hat = torch.zeros(config.entity_width + config.role_width)
            for j in range(count):
                if (j, i) in roles:
                    told = grn.to_sentences
                    u = torch.cat([epsilon[j], roles[j, i]])
                    layers = [told.from_target, told.from_source, told.from_role]
                    m_hat = m_hat + gate(layers, [kappa[i], epsilon[j], roles[j, i]]) * u
            new_kappa.append(gru(grn.sentence_update, [sentences[i], m, m_hat, g], kappa[i]))
        for j in range(count):
            m = torch.zeros(width + config.role_width)
            for i in range(size):
                if (j, i) in roles:
                    told = grn.to_entities
                    v = torch.cat([kappa[i], roles[j, i]])
                    layers = [told.from_target, told.from_source, told.from_role]
                    m = m + gate(layers, [epsilon[j], kappa[i], roles[j, i]]) * v
            inputs = [entities[j], m, g]
            if grn.relations is not None:
                inputs.append(_relation_message(grn, epsilon, similar, j))
            new_epsilon.append(gru(grn.entity_update, inputs, epsilon[j]))
        kappa, epsilon = new_kappa, new_epsilon
        total = sum(epsilon, torch.zeros(config.entity_width))
        g = gru(grn.document_update, [torch.stack(kappa).mean(0), total / (count + 1)], g)
    return torch.stack(kappa), g


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
