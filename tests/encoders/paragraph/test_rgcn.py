"""The relational graph network."""

import torch

from tests.encoders.made_up import (
    close,
    collated,
    corpus,
    paragraph_encoder,
    vectors,
    weights_of,
)
from unshuffle.encoders.paragraph.rgcn import AFTER, BEFORE, FROM_DOCUMENT, MENTIONED_BY, MENTIONS, RELATED, RGCNConfig
from unshuffle.encoders.paragraph.rgcn import TO_DOCUMENT as INTO_DOCUMENT


def test_the_rgcn_has_a_matrix_for_every_relation() -> None:
    batch = collated(corpus())
    graph, encoded, encoder = batch.graph, vectors(batch), paragraph_encoder(RGCNConfig(width=5, layers=2))
    sentence = encoder.from_sentence(encoded.sentences)
    entity_at, document_at = graph.sentences, graph.sentences + graph.entities
    mean = [sentence[graph.document_of_sentence == number].mean(0) for number in range(graph.documents)]
    nodes = torch.cat([sentence, encoder.from_entity(encoded.entities), torch.stack(mean)])
    edges: list[tuple[int, int, int, float]] = []  # to, from, relation, weight
    for (one, other), weight in zip(graph.pairs.T.tolist(), weights_of(batch).tolist(), strict=True):
        edges += [(one, other, BEFORE, weight), (one, other, AFTER, 1 - weight)]
        edges += [(other, one, BEFORE, 1 - weight), (other, one, AFTER, weight)]
    for (entity, place), role in zip(graph.mentions.T.tolist(), graph.roles.tolist(), strict=True):
        edges += [(entity_at + entity, place, MENTIONED_BY + role - 1, 1)]
        edges += [(place, entity_at + entity, MENTIONS + role - 1, 1)]
    for one, other in graph.relations.T.tolist():
        edges += [(entity_at + one, entity_at + other, RELATED, 1), (entity_at + other, entity_at + one, RELATED, 1)]
    for place, document in enumerate(graph.document_of_sentence.tolist()):
        edges += [(document_at + document, place, INTO_DOCUMENT, 1), (place, document_at + document, FROM_DOCUMENT, 1)]
    for layer in encoder.layers:
        bases = layer.basis.weight.view(2, 5, 5)
        new = [layer.own(node) for node in nodes]
        for end, start, relation, weight in edges:
            matrix = sum(share * basis for share, basis in zip(layer.mixture[relation], bases, strict=True))
            alike = sum(edge[0] == end and edge[2] == relation for edge in edges)
            new[end] = new[end] + weight / alike * (matrix @ nodes[start])
        nodes = torch.stack(new).relu()
    states = encoder(encoded, graph, weights_of(batch))
    close(states.sentences, torch.cat([encoded.sentences, nodes[:entity_at]], 1))
    mean = [encoded.sentences[graph.document_of_sentence == number].mean(0) for number in range(graph.documents)]
    close(states.documents, torch.cat([torch.stack(mean), nodes[document_at:]], 1))
