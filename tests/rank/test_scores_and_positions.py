"""Orders from one score a sentence, and from a score for each place."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle.errors import DataError
from unshuffle.rank import by_positions, by_scores


def test_scores_are_sorted_falling_and_ties_by_key() -> None:
    assert by_scores([0.1, 3.0, -2.0]).order == (1, 0, 2)
    assert by_scores([1.0, 1.0, 2.0], tie_key=[0.9, 0.1, 0.5]).order == (2, 1, 0)


def test_the_score_of_an_order_by_scores_is_its_log_probability() -> None:
    scores = np.array([0.2, 1.0, -0.5])
    total = 0.0
    left = [0, 1, 2]
    for sentence in (1, 0, 2):
        total += scores[sentence] - np.log(np.exp(scores[left]).sum())
        left.remove(sentence)
    assert by_scores(scores).score == pytest.approx(total)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(-2, 2), max_size=8), st.randoms(use_true_random=False))
def test_shuffled_scores_give_the_same_order_of_sentences(scores: list[int], random: object) -> None:
    generator = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    shuffle, key = generator.permutation(len(scores)), generator.permutation(len(scores))
    given_scores = np.array(scores, dtype=float)
    shuffled = by_scores(given_scores[shuffle], tie_key=key[shuffle])
    assert tuple(int(shuffle[at]) for at in shuffled.order) == by_scores(given_scores, tie_key=key).order


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_positions_give_the_best_assignment(count: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(count, count))
    best = max(permutations(range(count)), key=lambda order: sum(scores[list(order), range(count)]))
    ranking = by_positions(scores)
    assert ranking.order == best
    assert ranking.score == pytest.approx(sum(scores[list(best), range(count)]))


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_shuffled_positions_give_the_same_order_of_sentences(count: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    scores = generator.integers(0, 3, (count, count)).astype(float)  # ties abound
    shuffle, key = generator.permutation(count), generator.permutation(count)
    shuffled = by_positions(scores[shuffle], tie_key=key[shuffle])
    assert tuple(int(shuffle[at]) for at in shuffled.order) == by_positions(scores, tie_key=key).order


def test_equal_scores_do_not_give_back_the_input_order() -> None:
    assert {by_scores([0.0] * count).order == tuple(range(count)) for count in (8, 9, 10)} == {False}
    assert {by_positions(np.zeros((count, count))).order == tuple(range(count)) for count in (8, 9, 10)} == {False}


@pytest.mark.parametrize("wrong", [[[1.0]], [float("nan")]])
def test_what_is_not_one_number_a_sentence_is_refused(wrong: object) -> None:
    with pytest.raises(DataError, match="scores"):
        by_scores(wrong)  # type: ignore[arg-type]


def test_an_oblong_table_of_places_is_refused() -> None:
    with pytest.raises(DataError, match="positions"):
        by_positions(np.zeros((2, 3)))
