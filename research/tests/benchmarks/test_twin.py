"""The yardstick measures the same thing: the dense twin and the flat network are one function."""

import numpy as np
import pytest
import torch

from unshuffle.decode.contracts import Gold
from unshuffle.graph.batch import collate
from unshuffle.graph.prepare import Item
from unshuffle.search.contracts import Search
from unshuffle.system.folder import Model
from unshuffle_research.benchmarks.documents import nips_like, of_size
from unshuffle_research.benchmarks.models import drawn_of, items_of, model_of, sharpen
from unshuffle_research.benchmarks.twin import Twin
from unshuffle_research.benchmarks.twin_batch import PaddedBatch, padded_orders
from unshuffle_research.benchmarks.twin_search import best_order

NEAR = 1e-4


@pytest.fixture(scope="module")
def model() -> Model:
    model = model_of("se-grn", nips_like(24), quick=True)
    sharpen(model, items_of(model, nips_like(24)))
    return model


@pytest.fixture(scope="module")
def items(model: Model) -> list[Item]:
    return items_of(model, [*nips_like(10, seed=1), *of_size(1, 5), *of_size(2, 3)])


def test_losses_and_gradients_are_alike(model: Model, items: list[Item]) -> None:
    twin = Twin(model.network).eval()
    (drawn,) = drawn_of(items)
    ours = model.network(collate(drawn.items), Gold.of([list(order) for order in drawn.orders]))
    theirs = twin(PaddedBatch.of(drawn.items), padded_orders(drawn.orders))
    assert ours.item() == pytest.approx(theirs.item(), abs=NEAR)
    ours.backward()
    theirs.backward()
    encoder, grn = model.network.sentence_encoder, model.network.paragraph_encoder
    pairs = [
        (encoder.embedding.table.weight, twin.embedding.weight),
        (encoder.lstm.weight_hh_l0, twin.lstm.weight_hh_l0),
        (encoder.lstm.weight_ih_l0_reverse, twin.lstm.weight_ih_l0_reverse),
        (grn.roles.weight, twin.roles.weight),
        (grn.sentence_update.hidden.weight, twin.sentence_cell.weight_hh),
        (grn.document_update.hidden.weight, twin.document_cell.weight_hh),
        (model.network.decoder.lstm.weight_hh_l0, twin.decoder.weight_hh_l0),
    ]
    for mine, other in pairs:
        assert mine.grad is not None and other.grad is not None
        torch.testing.assert_close(mine.grad, other.grad, atol=NEAR, rtol=1e-3)
    model.network.zero_grad()


@pytest.mark.parametrize("beam", [1, 8, 64])
def test_searches_find_the_same_orders(model: Model, items: list[Item], beam: int) -> None:
    twin = Twin(model.network).eval()
    with torch.inference_mode():
        batch = collate(items)
        found = model.network.search(model.network.read(batch), batch, Search(beam=beam))
    for item, ours in zip(items, found, strict=True):
        order, log_probability = best_order(twin, item, beam)
        assert ours.log_probabilities[0] == pytest.approx(log_probability, abs=NEAR)
        assert ours.orders[0] == order


def test_documents_have_the_lengths_and_graphs_of_abstracts(model: Model) -> None:
    items = items_of(model, nips_like(400))

    def mean(counts: list[int]) -> float:
        return float(np.mean(counts))

    assert mean([item.graph.sentences for item in items]) == pytest.approx(6.14, rel=0.05)
    assert mean([len(words) for item in items for words in item.words]) == pytest.approx(25.7, rel=0.05)
    assert mean([len(item.graph.words) for item in items]) == pytest.approx(5.73, rel=0.08)
    assert mean([item.graph.mentions.shape[1] for item in items]) == pytest.approx(14.16, rel=0.08)
    assert mean([item.graph.pairs.shape[1] for item in items]) == pytest.approx(8.33, rel=0.08)
