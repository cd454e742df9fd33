"""The layout of ordered pairs."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.encoders.made_up import collated, corpus, item
from unshuffle.graph.batch import ordered_pairs, pair_numbers


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_pairs_stand_document_by_document_and_row_by_row(sizes: list[int]) -> None:
    graph = collated([item([1] * size, seed=seed) for seed, size in enumerate(sizes)]).graph
    expected, first = [], 0
    for size in sizes:
        expected += [(first + i, first + j) for i in range(size) for j in range(size) if i != j]
        first += size
    pairs = ordered_pairs(graph)
    assert [tuple(pair) for pair in pairs.T.tolist()] == expected
    assert torch.equal(pair_numbers(graph, *pairs), torch.arange(len(expected)))


def test_pair_numbers_turn_pairs_around() -> None:
    graph = collated(corpus()).graph
    one, other = ordered_pairs(graph)
    back = pair_numbers(graph, other, one)
    assert torch.equal(back[back], torch.arange(len(back)))
