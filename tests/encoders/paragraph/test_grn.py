"""The graph recurrent network."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.fixtures.documents import random_documents
from tests.oracles import grn as oracle
from unshuffle.encoders.contracts import Encoded
from unshuffle.encoders.messages import LINK_MESSAGES, LinkMessage, both_directions
from unshuffle.encoders.paragraph.grn import GRN, GRNConfig
from unshuffle.graph.batch import collate
from unshuffle.graph.build import Graph, GraphConfig, build_graph
from unshuffle.graph.prepare import Item

WIDTH, ENTITY = 8, 5


def graphs() -> list[Graph]:
    """Random documents, one without a link, one of one sentence; relations and weights drawn at random."""
    draw = np.random.default_rng(0)
    found = []
    documents = [*random_documents(4, sentences=(3, 6), seed=1), *random_documents(1, sentences=1, seed=2)]
    documents.append(replace(documents[0], mentions=()))
    for document in documents:
        graph = build_graph(document, GraphConfig())
        related = np.triu(draw.random((len(graph.words),) * 2) < 0.4, 1)
        relations = np.stack(np.nonzero(related)).astype(np.int64)
        weights = draw.random(graph.pairs.shape[1]).astype(np.float32)
        weights[draw.random(len(weights)) < 0.3] = 0.5
        similarity = draw.uniform(0.5, 1, relations.shape[1]).astype(np.float32)
        found.append(replace(graph, relations=relations, similarity=similarity, weights=weights))
    return found


def items() -> list[Item]:
    return [
        Item(
            id="",
            words=tuple(np.array([1]) for _ in range(graph.sentences)),
            graph=graph,
            entity_words=np.zeros(len(graph.words), np.int64),
            spans=np.empty((2, 0), np.int64),
        )
        for graph in graphs()
    ]


def network(**options: object) -> GRN:
    torch.manual_seed(0)
    grn = GRN(GRNConfig(entity_width=6, role_width=3, **options), width=WIDTH, entity_input=ENTITY)
    with torch.no_grad():
        for parameter in grn.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.7)
    return grn.eval()


def vectors(sentences: int, entities: int) -> Encoded:
    return Encoded(torch.randn(sentences, WIDTH), torch.randn(entities, ENTITY))


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("relations", [False, True], ids=["alone", "related"])
@pytest.mark.parametrize("initial_states", ["zero", "encoder"])
@pytest.mark.parametrize("link_message", get_args(LinkMessage))
def test_it_is_the_loop_of_the_equations(link_message: str, initial_states: str, relations: bool) -> None:
    grn = network(link_message=link_message, initial_states=initial_states, relations=relations)
    batch = collate(items())
    encoded = vectors(batch.graph.sentences, batch.graph.entities)
    assert batch.weights is not None
    states = grn(encoded, batch.graph, batch.weights)
    for number, graph in enumerate(graphs()):
        own = batch.graph.document_of_sentence == number
        of_entities = batch.graph.document_of_entity == number
        assert graph.weights is not None
        weights = torch.from_numpy(graph.weights)
        sentences, document = oracle.run(grn, encoded.sentences[own], encoded.entities[of_entities], graph, weights)
        close(states.sentences[own], sentences)
        close(states.documents[number], document)


@torch.no_grad()
@pytest.mark.parametrize("initial_states", ["zero", "encoder"])
def test_weights_move_what_they_should(initial_states: str) -> None:
    batch = collate(items())
    encoded = vectors(batch.graph.sentences, batch.graph.entities)
    assert batch.weights is not None
    for kind in get_args(LinkMessage):
        grn = network(link_message=kind, initial_states=initial_states)
        one = grn(encoded, batch.graph, batch.weights).sentences
        other = grn(encoded, batch.graph, 1 - batch.weights).sentences
        assert torch.equal(one, other) == (kind == "sum")


@torch.no_grad()
@pytest.mark.parametrize("kind", get_args(LinkMessage))
def test_a_tie_looks_the_same_from_both_sides(kind: LinkMessage) -> None:
    """Otherwise the side on which a pair was stored would show (reference-facts 2.5)."""
    torch.manual_seed(0)
    links = LINK_MESSAGES[kind](WIDTH)
    state = torch.randn(1, WIDTH).expand(2, WIDTH)
    heard = links(state, torch.tensor([[0, 1], [1, 0]]), both_directions(torch.tensor([0.5])))
    torch.testing.assert_close(heard[0], heard[1])


@torch.no_grad()
@pytest.mark.parametrize("weight", [0.0, 0.1, 0.29, 0.5, 0.7, 1.0])
def test_buckets_do_not_depend_on_which_sentence_is_stored_first(weight: float) -> None:
    torch.manual_seed(0)
    links = LINK_MESSAGES["bucketed"](WIDTH)
    state = torch.randn(2, WIDTH)
    forward = links(state, torch.tensor([[0, 1], [1, 0]]), both_directions(torch.tensor([weight])))
    backward = links(state, torch.tensor([[1, 0], [0, 1]]), both_directions(torch.tensor([1 - weight])))
    torch.testing.assert_close(forward, backward)


@torch.no_grad()
def test_related_entities_hear_their_neighbours_and_not_themselves() -> None:
    grn = network(relations=True, steps=2)
    batch = collate([item for item in items() if item.graph.relations.size][:1])
    encoded = vectors(batch.graph.sentences, batch.graph.entities)
    assert batch.weights is not None and grn.relations is not None
    one, other = batch.graph.relations[:, 0].tolist()
    state = torch.randn(batch.graph.entities, 6)
    moved = state.index_fill(0, torch.tensor([other]), 0.3)
    assert not torch.allclose(grn.relations(state, batch.graph)[one], grn.relations(moved, batch.graph)[one])
    alone = replace(batch.graph, relations=batch.graph.relations[:, :0], similarity=batch.graph.similarity[:0])
    assert not torch.allclose(
        grn(encoded, batch.graph, batch.weights).documents, grn(encoded, alone, batch.weights).documents
    )
    assert not grn.relations(state, alone).any()


def test_start_and_finish_are_one_run() -> None:
    grn = network(steps=3)
    batch = collate(items())
    encoded = vectors(batch.graph.sentences, batch.graph.entities)
    assert batch.weights is not None
    start = grn.start(encoded, batch.graph)
    shared, separate = [], []
    for weights in (batch.weights, 1 - batch.weights):
        shared.append(grn.finish(start, encoded, batch.graph, weights).sentences)
        separate.append(grn(encoded, batch.graph, weights).sentences)
    close(torch.stack(shared), torch.stack(separate))
    used = [parameter for name, parameter in grn.named_parameters() if "document_update.hidden" not in name]
    gradients = (torch.autograd.grad((one[0] * one[1]).sum(), used) for one in (shared, separate))
    for found, expected in zip(*gradients, strict=True):
        close(found, expected)
