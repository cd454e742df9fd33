"""Order measures against slow definitions and against scipy."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from unshuffle.errors import DataError
from unshuffle.metrics import (
    accuracy,
    adjacent,
    align_repeats,
    footrule,
    head,
    inversions,
    longest_common,
    perfect_match,
    tail,
    tau,
    within,
)

two_orders = st.integers(1, 9).flatmap(
    lambda count: st.tuples(st.permutations(range(count)), st.permutations(range(count)))
)


@settings(deadline=None)
@given(st.integers(2, 30).flatmap(lambda count: st.tuples(*[st.permutations(range(count))] * 2)))
def test_tau_equals_scipy_on_random_permutations(pair: tuple[list[int], list[int]]) -> None:
    predicted, gold = pair
    oracle = kendalltau(np.argsort(predicted), np.argsort(gold)).statistic
    assert tau(predicted, gold) == pytest.approx(oracle, abs=1e-12)


@settings(deadline=None)
@given(two_orders)
def test_inversions_equal_a_count_of_all_pairs(pair: tuple[list[int], list[int]]) -> None:
    predicted, gold = pair
    wrong = sum(
        (predicted.index(one) < predicted.index(other)) != (gold.index(one) < gold.index(other))
        for one, other in combinations(gold, 2)
    )
    assert inversions(predicted, gold) == wrong


@settings(deadline=None)
@given(two_orders)
def test_longest_common_subsequence_equals_the_textbook_table(pair: tuple[list[int], list[int]]) -> None:
    predicted, gold = pair
    table = np.zeros((len(gold) + 1, len(gold) + 1), dtype=int)
    for row, one in enumerate(predicted):
        for column, other in enumerate(gold):
            grown = table[row, column] + 1 if one == other else max(table[row, column + 1], table[row + 1, column])
            table[row + 1, column + 1] = grown
    assert longest_common(predicted, gold) == table[-1, -1] / len(gold)


@settings(deadline=None)
@given(two_orders)
def test_renaming_sentences_changes_no_measure(pair: tuple[list[int], list[int]]) -> None:
    predicted, gold = pair
    names = {sentence: 100 - 7 * sentence for sentence in gold}
    renamed = [names[sentence] for sentence in predicted], [names[sentence] for sentence in gold]
    for measure in (tau, perfect_match, accuracy, head, tail, longest_common, adjacent, footrule, inversions):
        assert measure(predicted, gold) == measure(*renamed)


def test_a_document_of_one_sentence_counts_as_right() -> None:
    for measure in (tau, perfect_match, accuracy, head, tail, longest_common, adjacent):
        assert measure([7], [7]) == 1.0


def test_a_known_order_has_the_values_worked_out_by_hand() -> None:
    predicted, gold = [1, 0, 2, 4, 3], [0, 1, 2, 3, 4]
    assert tau(predicted, gold) == pytest.approx(1 - 4 * 2 / 20)
    assert perfect_match(predicted, gold) == 0
    assert accuracy(predicted, gold) == pytest.approx(1 / 5)
    assert (head(predicted, gold), tail(predicted, gold)) == (0, 0)
    assert longest_common(predicted, gold) == pytest.approx(3 / 5)
    assert [within(predicted, gold, distance) for distance in (0, 1)] == [1 / 5, 1]
    assert adjacent([2, 3, 4, 0, 1], gold) == pytest.approx(3 / 4)
    assert footrule(predicted, gold) == 4


def test_head_and_tail_look_at_their_end_only() -> None:
    assert (head([0, 2, 1], [0, 1, 2]), tail([0, 2, 1], [0, 1, 2])) == (1, 0)
    assert (head([1, 0, 2], [0, 1, 2]), tail([1, 0, 2], [0, 1, 2])) == (0, 1)


def test_the_reverse_order_has_tau_minus_one() -> None:
    assert tau(list(range(50))[::-1], list(range(50))) == -1.0


def test_long_orders_are_counted_quickly() -> None:
    count = 20_000  # 2 * 10^8 pairs: only n log n ends in time
    assert inversions(list(range(count))[::-1], list(range(count))) == count * (count - 1) // 2


@pytest.mark.parametrize("predicted", [[0, 0, 1], [0, 1], [0, 1, 3], [0, 1, 2, 2]])
def test_what_is_no_permutation_is_refused(predicted: list[int]) -> None:
    with pytest.raises(DataError, match="permutation"):
        tau(predicted, [0, 1, 2])


def test_an_empty_order_is_refused() -> None:
    with pytest.raises(DataError, match="no sentence"):
        tau([], [])


def test_coin_flip_orders_score_tau_zero() -> None:
    generator = np.random.default_rng(0)
    values = [tau(generator.permutation(6).tolist(), generator.permutation(6).tolist()) for _ in range(3000)]
    assert abs(np.mean(values)) < 0.03  # the standard error is 0.006


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 6).flatmap(lambda count: st.tuples(*[st.permutations(range(count))] * 2)), st.data())
def test_aligned_repeats_have_the_fewest_inversions_of_all_assignments(
    pair: tuple[list[int], list[int]], data: st.DataObject
) -> None:
    predicted, gold = pair
    texts = data.draw(st.lists(st.sampled_from("abc"), min_size=len(gold), max_size=len(gold)))
    read = [texts[sentence] for sentence in predicted]
    candidates = [order for order in permutations(gold) if [texts[sentence] for sentence in order] == read]
    aligned = align_repeats(predicted, gold, texts)
    assert aligned in candidates
    assert inversions(aligned, gold) == min(inversions(order, gold) for order in candidates)


def test_exchanged_copies_of_a_sentence_are_no_mistake() -> None:
    texts = ["Stop.", "Go.", "Stop."]
    assert perfect_match([2, 1, 0], [0, 1, 2]) == 0
    assert align_repeats([2, 1, 0], [0, 1, 2], texts) == (0, 1, 2)


@settings(deadline=None)
@given(two_orders)
def test_aligning_distinct_sentences_changes_nothing(pair: tuple[list[int], list[int]]) -> None:
    predicted, gold = pair
    assert align_repeats(predicted, gold, [str(sentence) for sentence in range(len(gold))]) == tuple(predicted)


def test_aligning_without_all_texts_is_refused() -> None:
    with pytest.raises(DataError, match="texts"):
        align_repeats([0, 1], [1, 0], ["one"])
