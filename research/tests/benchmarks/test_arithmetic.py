"""The count of operations, against a count by hand."""

import pytest

from unshuffle_research.benchmarks.arithmetic import forward_flops, refined_flops, training_flops
from unshuffle_research.benchmarks.documents import of_size
from unshuffle_research.benchmarks.models import items_of, model_of


def test_one_document_counted_by_hand() -> None:
    documents = of_size(3, 4)
    model = model_of("se-grn", documents, quick=True)
    (item,) = items_of(model, documents)
    width, entity, role, word = 32, 150, 50, 100
    entities, mentions = len(item.graph.words), item.graph.mentions.shape[1]
    encoder = 2 * 12 * (word + 16) * 4 * 16
    step = 3 * (4 * width + entity + role) * 3 * width
    step += entities * (word + 2 * width + role + entity) * 3 * entity
    step += (width + entity + width) * 3 * width
    step += mentions * (width + entity + role) * (entity + role + width + role)
    pointer = 3 * (2 * width * width + 2 * width * 4 * width + width * width) + 9 * width
    by_hand = 2 * (encoder + 3 * step + pointer)
    assert forward_flops(model.config, [item]) == pytest.approx(by_hand)
    assert training_flops(model.config, [item]) == pytest.approx(3 * by_hand)


def test_every_round_of_refinement_costs_one_graph_network_and_a_head() -> None:
    documents = of_size(4, 5, count=3)
    model = model_of("irse-grn", documents, quick=True)
    items = items_of(model, documents)
    costs = [refined_flops(model.config, items, rounds) for rounds in (0, 1, 2)]
    assert costs[0] < costs[1] < costs[2]
    assert costs[2] - costs[1] == pytest.approx(costs[1] - costs[0])
