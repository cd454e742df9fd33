"""What every ranker of pair probabilities must do: agree with sure pairs, be blind to labels, leak nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unshuffle.errors import ConfigError, DataError
from unshuffle.metrics import tau
from unshuffle.rank import METHODS, Method, rank, text_keys, two_sided
from unshuffle.rank.topological import acyclic_edges, widest_paths

every_method = pytest.mark.parametrize("method", METHODS)

# Few values, so that ties and cycles abound.
coarse = st.integers(0, 8).flatmap(
    lambda count: arrays(np.float64, (count, count), elements=st.sampled_from([0.0, 0.3, 0.5, 0.7, 1.0]))
)


@every_method
@settings(deadline=None, max_examples=40)
@given(raw=coarse, random=st.randoms(use_true_random=False))
def test_shuffling_the_input_permutes_the_order_alike(method: Method, raw: np.ndarray, random: object) -> None:
    count = len(raw)
    generator = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    shuffle, key = generator.permutation(count), generator.permutation(count).astype(float)
    straight = rank(raw, method, tie_key=key)
    shuffled = rank(raw[shuffle][:, shuffle], method, tie_key=key[shuffle])
    assert tuple(int(shuffle[at]) for at in shuffled.order) == straight.order
    assert shuffled.score == straight.score


@every_method
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 8))
def test_without_keys_the_probabilities_alone_tell_sentences_apart(method: Method, seed: int, count: int) -> None:
    generator = np.random.default_rng(seed)
    raw, shuffle = two_sided(generator.random((count, count))), generator.permutation(count)
    shuffled = rank(raw[shuffle][:, shuffle], method)
    assert tuple(int(shuffle[at]) for at in shuffled.order) == rank(raw, method).order


@every_method
@pytest.mark.parametrize("answers", [(0.0, 1.0), (0.0, 0.5, 1.0), None])
def test_coin_flip_decisions_score_tau_zero(method: Method, answers: tuple[float, ...] | None) -> None:
    """Gold order is input order here: a ranker that looks at indices scores well above zero (trap of B-TSort)."""
    generator = np.random.default_rng(7)
    straight, relabelled = [], []
    for _ in range(300):
        upper = generator.random((7, 7)) if answers is None else generator.choice(answers, (7, 7))
        upper = np.triu(upper, 1)
        probability = upper + np.tril(1 - upper.T, -1)
        order = rank(probability, method, tie_key=generator.random(7)).order
        straight.append(tau(order, range(7)))
        relabelled.append(tau(order, generator.permutation(7).tolist()))
    assert abs(np.mean(straight)) < 0.075  # the standard error is 0.018
    assert abs(np.mean(relabelled)) < 0.075


@every_method
def test_coin_flip_decisions_without_keys_score_tau_zero_in_input_order(method: Method) -> None:
    generator = np.random.default_rng(3)
    values = []
    for _ in range(300):
        upper = np.triu(generator.choice([0.0, 1.0], (7, 7)), 1)
        values.append(tau(rank(upper + np.tril(1 - upper.T, -1), method).order, range(7)))
    assert abs(np.mean(values)) < 0.075


@every_method
@settings(deadline=None, max_examples=30)
@given(order=st.integers(0, 8).flatmap(lambda count: st.permutations(range(count))), sure=st.floats(0.51, 1.0))
def test_pairs_that_agree_on_one_order_give_that_order(method: Method, order: list[int], sure: float) -> None:
    place = np.argsort(np.array(order, dtype=int))
    probability = np.where(place[:, None] < place, sure, 1 - sure)
    assert rank(probability, method).order == tuple(order)


@every_method
def test_sentences_that_nothing_tells_apart_are_sorted_by_key(method: Method) -> None:
    key = [0.3, 0.9, 0.1, 0.5]
    assert rank(np.full((4, 4), 0.5), method, tie_key=key).order == (2, 0, 3, 1)


@every_method
def test_no_sentence_and_one_sentence_are_fine(method: Method) -> None:
    assert rank(np.zeros((0, 0)), method).order == ()
    assert rank([[0.5]], method).order == (0,)
    assert rank([[0.5]], method).score == 0


@every_method
def test_the_score_is_the_sum_of_log_probabilities(method: Method) -> None:
    probability = two_sided(np.random.default_rng(0).random((6, 6)))
    ranking = rank(probability, method)
    total = sum(
        np.log(probability[first, second])
        for at, first in enumerate(ranking.order)
        for second in ranking.order[at + 1 :]
    )
    assert ranking.score == pytest.approx(total)


@pytest.mark.parametrize("method", ["kemeny", "eades", "borda", "topological"])
def test_two_hundred_sentences_can_be_ranked(method: Method) -> None:
    probability = two_sided(np.random.default_rng(0).random((200, 200)))
    assert sorted(rank(probability, method).order) == list(range(200))


def test_two_sided_probabilities_add_up_to_one_and_undo_a_bias() -> None:
    raw = np.random.default_rng(0).random((5, 5))
    both = two_sided(raw)
    np.testing.assert_allclose(both + both.T, 1)
    assert both[1, 3] == pytest.approx((raw[1, 3] + 1 - raw[3, 1]) / 2)
    assert (two_sided(np.full((4, 4), 0.9)) == 0.5).all()


@pytest.mark.parametrize("wrong", [[[0.5, 1.2], [0.1, 0.5]], [[0.5, float("nan")], [0.1, 0.5]]])
def test_what_is_no_probability_is_refused_with_its_pair(wrong: list[list[float]]) -> None:
    with pytest.raises(DataError, match="0 before 1"):
        rank(wrong)


def test_an_oblong_matrix_is_refused() -> None:
    with pytest.raises(DataError, match="shape"):
        rank(np.full((2, 3), 0.5))


def test_an_unknown_method_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"kemenny.*kemeny, eades"):
        rank([[0.5]], "kemenny")  # type: ignore[arg-type]


def test_keys_of_another_number_of_sentences_are_refused() -> None:
    with pytest.raises(DataError, match="tie_key"):
        rank(np.full((3, 3), 0.5), tie_key=[1.0, 2.0])


def test_text_keys_depend_on_the_text_alone() -> None:
    keys = text_keys(["One.", "Two.", "One.", "\udcff"])
    assert keys[0] == keys[2] != keys[1]
    assert ((keys >= 0) & (keys < 1)).all()
    assert text_keys(["Two."])[0] == keys[1]


def by_repeated_cutting(strength: np.ndarray) -> np.ndarray:
    """The slow way: as long as there are cycles, drop the weakest edges of one strong component."""
    kept = np.where(strength > 0, strength, 0.0)
    while True:
        reach = widest_paths((kept > 0).astype(float)) > 0
        inside = (kept > 0) & reach.T
        if not inside.any():
            return kept > 0
        first, _ = np.argwhere(inside)[0]
        component = (reach[first] & reach[:, first]) | (np.arange(len(kept)) == first)
        within = inside & component[:, None] & component
        kept[within & (kept == kept[within].min())] = 0.0


@settings(deadline=None, max_examples=100)
@given(coarse)
def test_cutting_all_cycles_at_once_equals_cutting_one_by_one(raw: np.ndarray) -> None:
    strength = np.maximum(raw - raw.T, 0.0)
    assert (acyclic_edges(strength) == by_repeated_cutting(strength)).all()


def test_a_cycle_is_cut_at_its_weakest_edge() -> None:
    probability = np.array([[0.5, 0.9, 0.4], [0.1, 0.5, 0.8], [0.6, 0.2, 0.5]])  # 0 -> 1 -> 2 -> 0, the last weakest
    assert rank(probability, "topological").order == (0, 1, 2)
