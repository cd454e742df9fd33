"""Exact and approximate search against brute force."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle.errors import ConfigError
from unshuffle.rank import best_by_kemeny, by_beam, by_eades, by_kemeny, rank, two_sided
from unshuffle.rank.insertion import _exchanges, _moves
from unshuffle.rank.ranking import log_weights, order_score


@cache
def all_orders(count: int) -> np.ndarray:
    return np.array(list(permutations(range(count))), dtype=int).reshape(-1, count)


def all_scores(probability: np.ndarray) -> np.ndarray:
    weight, orders = log_weights(probability), all_orders(len(probability))
    first, second = np.triu_indices(len(probability), 1)
    scores: np.ndarray = weight[orders[:, first], orders[:, second]].sum(1)
    return scores


problems = st.tuples(st.integers(1, 7), st.integers(0, 2**32 - 1)).map(
    lambda drawn: np.random.default_rng(drawn[1]).random((drawn[0], drawn[0]))
)


@settings(deadline=None, max_examples=60)
@given(problems)
def test_kemeny_equals_brute_force(probability: np.ndarray) -> None:
    ranking, scores = by_kemeny(probability), all_scores(probability)
    assert ranking.score == pytest.approx(scores.max())
    assert ranking.order == tuple(all_orders(len(probability))[scores.argmax()])


@settings(deadline=None, max_examples=40)
@given(problems, st.integers(1, 30))
def test_the_best_orders_are_those_of_brute_force(probability: np.ndarray, count: int) -> None:
    rankings, scores = best_by_kemeny(probability, count), all_scores(probability)
    top = np.argsort(-scores)[:count]
    assert [ranking.order for ranking in rankings] == [tuple(order) for order in all_orders(len(probability))[top]]
    assert [ranking.score for ranking in rankings] == pytest.approx(scores[top])


def test_best_orders_of_ties_are_all_different() -> None:
    rankings = best_by_kemeny(np.full((4, 4), 0.5), 100, tie_key=range(4))
    assert len({ranking.order for ranking in rankings}) == 24
    assert rankings[0].order == (0, 1, 2, 3)


@settings(deadline=None, max_examples=40)
@given(problems)
def test_a_beam_that_holds_all_orders_is_exact(probability: np.ndarray) -> None:
    exact = by_kemeny(probability)
    assert by_beam(probability, width=5040).order == exact.order
    assert by_beam(probability, width=1).score <= exact.score + 1e-9


@settings(deadline=None, max_examples=40)
@given(problems)
def test_no_single_move_betters_what_eades_gives(probability: np.ndarray) -> None:
    ranking, weight = by_eades(probability), log_weights(probability)
    for source in range(len(weight)):
        for target in range(len(weight)):
            moved = list(ranking.order)
            moved.insert(target, moved.pop(source))
            assert order_score(weight, moved) <= ranking.score + 1e-8


@settings(deadline=None, max_examples=40)
@given(problems)
def test_gains_of_moves_and_exchanges_equal_scoring_anew(probability: np.ndarray) -> None:
    weight = log_weights(probability)
    order = list(range(len(weight)))
    moves, exchanges = _moves(weight - weight.T), _exchanges(weight - weight.T)
    before = order_score(weight, order)
    for source in order:
        for target in order:
            moved = order.copy()
            moved.insert(target, moved.pop(source))
            assert moves[source, target] == pytest.approx(order_score(weight, moved) - before, abs=1e-9)
            if source < target:
                swapped = order.copy()
                swapped[source], swapped[target] = swapped[target], swapped[source]
                assert exchanges[source, target] == pytest.approx(order_score(weight, swapped) - before, abs=1e-9)


def test_eades_comes_near_the_best_order_on_average() -> None:
    generator = np.random.default_rng(0)
    exact, greedy = [], []
    for _ in range(50):
        probability = two_sided(generator.random((9, 9)))
        exact.append(by_kemeny(probability).score)
        greedy.append(by_eades(probability).score)
    assert np.mean(exact) >= np.mean(greedy) > 1.03 * np.mean(exact)


def test_fourteen_sentences_are_solved_exactly_and_more_by_eades() -> None:
    generator = np.random.default_rng(0)
    fourteen, fifteen = (two_sided(generator.random((count, count))) for count in (14, 15))
    assert rank(fourteen).score >= by_beam(fourteen).score
    assert rank(fifteen) == by_eades(fifteen)
    with pytest.raises(ConfigError, match="15 sentences"):
        by_kemeny(fifteen)


def test_certain_answers_do_not_make_the_score_infinite() -> None:
    assert np.isfinite(by_kemeny([[0.5, 0.0], [0.0, 0.5]]).score)


def test_a_beam_without_width_and_no_orders_are_refused() -> None:
    with pytest.raises(ConfigError, match="width"):
        by_beam([[0.5]], width=0)
    with pytest.raises(ConfigError, match="at least one"):
        best_by_kemeny([[0.5]], 0)
