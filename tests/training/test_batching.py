"""Batches of like length that stay random, and that a seed alone decides."""

from dataclasses import replace

import numpy as np

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from unshuffle.graph.prepare import Item
from unshuffle.training.corpus import GROUP, epoch_batches


def items_of_lengths(lengths: list[int], tmp_path: object) -> list[Item]:
    model = tiny_model("se-grn", tmp_path)  # type: ignore[arg-type]
    (item,) = model.preparer.items(random_documents(1, sentences=2))
    return [replace(item, words=(np.zeros(1, np.int64), np.zeros(length, np.int64))) for length in lengths]


def test_every_document_is_taken_once_and_the_seed_decides(tmp_path: object) -> None:
    lengths = np.random.default_rng(0).integers(1, 99, 333).tolist()
    items = items_of_lengths(lengths, tmp_path)
    teach = [number for number in range(len(items)) if number % 7]
    batches = epoch_batches(items, teach, 4, seed=3)
    assert sorted(number for batch in batches for number in batch) == teach
    assert sorted(map(len, batches))[1:] == [4] * (len(batches) - 1)
    assert batches == epoch_batches(items, teach, 4, seed=3) != epoch_batches(items, teach, 4, seed=4)


def test_batches_are_alike_within_and_in_no_order_among_themselves(tmp_path: object) -> None:
    lengths = np.random.default_rng(0).integers(1, 1000, 4 * GROUP).tolist()
    batches = epoch_batches(items_of_lengths(lengths, tmp_path), range(len(lengths)), 4, seed=1)
    spans = [max(lengths[number] for number in batch) - min(lengths[number] for number in batch) for batch in batches]
    assert np.mean(spans) < 100
    firsts = [lengths[batch[0]] for batch in batches]
    assert firsts != sorted(firsts)
