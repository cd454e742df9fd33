"""Corpus scores: definitions, adding up, lengths, spread."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle.errors import DataError
from unshuffle.metrics import (
    OrderPair,
    Tally,
    accuracy,
    adjacent,
    by_length,
    head,
    longest_common,
    perfect_match,
    spread,
    summarise,
    tail,
    tally,
    tau,
    within,
)


def flat(row: object) -> list[float]:
    values: list[float] = []
    for value in astuple(row):  # type: ignore[call-overload]
        values += value if isinstance(value, tuple) else [value]
    return values


order_pairs = st.integers(1, 7).flatmap(
    lambda count: st.builds(
        OrderPair,
        st.permutations(range(count)).map(tuple),
        st.permutations(range(count)).map(tuple),
    )
)
corpora = st.lists(order_pairs, min_size=1, max_size=8)


@settings(deadline=None, max_examples=50)
@given(corpora)
def test_the_summary_equals_the_measures_of_single_documents(pairs: list[OrderPair]) -> None:
    score = summarise(pairs)
    sizes = np.array([len(pair.gold) for pair in pairs])

    def macro(measure: object) -> float:
        return 100 * float(np.mean([measure(pair.predicted, pair.gold) for pair in pairs]))  # type: ignore[operator]

    def micro(measure: object) -> float:
        values = [measure(pair.predicted, pair.gold) for pair in pairs]  # type: ignore[operator]
        return 100 * float(np.average(values, weights=sizes))

    assert score.tau == pytest.approx(macro(tau))
    assert score.pmr == pytest.approx(macro(perfect_match))
    assert (score.acc_micro, score.acc_macro) == pytest.approx((micro(accuracy), macro(accuracy)))
    assert (score.head, score.tail) == pytest.approx((macro(head), macro(tail)))
    assert (score.lcs_micro, score.lcs_macro) == pytest.approx((micro(longest_common), macro(longest_common)))
    assert score.adjacent == pytest.approx(macro(adjacent))
    for distance, share in enumerate(score.within, start=1):
        assert share == pytest.approx(micro(lambda one, other, limit=distance: within(one, other, limit)))
    assert (score.documents, score.sentences) == (len(pairs), sizes.sum())


@settings(deadline=None, max_examples=50)
@given(corpora, corpora)
def test_tallies_of_parts_add_up_to_the_whole(left: list[OrderPair], right: list[OrderPair]) -> None:
    assert flat(tally(left) + tally(right)) == pytest.approx(flat(tally(left + right)))


def test_micro_and_macro_accuracy_differ_when_lengths_do() -> None:
    score = summarise([OrderPair((0,), (0,)), OrderPair((1, 2, 0), (0, 1, 2))])
    assert score.acc_micro == pytest.approx(25)
    assert score.acc_macro == pytest.approx(50)


def test_pooled_tau_weighs_documents_by_their_pairs() -> None:
    score = summarise([OrderPair((1, 0), (0, 1)), OrderPair((0, 1, 2, 3), (0, 1, 2, 3))])
    assert score.tau == pytest.approx(0)
    assert score.tau_pooled == pytest.approx(100 * (1 - 2 * 1 / 7))


def test_one_sentence_documents_count_as_right() -> None:
    score = summarise([OrderPair((0,), (0,))])
    assert flat(score)[:-2] == [100.0] * 13


def test_repeated_sentences_may_stand_for_each_other() -> None:
    swapped = OrderPair((2, 1, 0), (0, 1, 2), ("Stop.", "Go.", "Stop."))
    assert summarise([swapped]).pmr == 100
    assert summarise([OrderPair(swapped.predicted, swapped.gold)]).pmr == 0


@settings(deadline=None, max_examples=50)
@given(corpora)
def test_scores_by_length_are_those_of_the_documents_of_that_length(pairs: list[OrderPair]) -> None:
    scores = by_length(pairs)
    assert list(scores) == sorted({len(pair.gold) for pair in pairs})
    for length, score in scores.items():
        assert score == summarise(pair for pair in pairs if len(pair.gold) == length)


def test_coin_flip_orders_score_tau_zero() -> None:
    generator = np.random.default_rng(1)
    pairs = (OrderPair(tuple(generator.permutation(7)), tuple(range(7))) for _ in range(2000))
    score = summarise(pairs)
    assert abs(score.tau) < 3  # percent; the standard error is 0.7
    assert abs(score.acc_micro - 100 / 7) < 2


def test_spread_gives_mean_and_sample_deviation() -> None:
    right, wrong = OrderPair((0, 1), (0, 1)), OrderPair((1, 0), (0, 1))
    result = spread([summarise([right, right]), summarise([right, wrong]), summarise([wrong, wrong])])
    assert result.sd is not None
    assert (result.mean.tau, result.sd.tau, result.runs) == pytest.approx((0, 100, 3))
    assert (result.mean.pmr, result.sd.pmr) == pytest.approx((50, 50))
    assert (result.mean.within[0], result.sd.within[0]) == pytest.approx((100, 0))
    assert (result.mean.documents, result.mean.sentences) == (2, 4)


def test_one_run_has_no_deviation() -> None:
    assert spread([summarise([OrderPair((0,), (0,))])]).sd is None


def test_spread_refuses_scores_of_different_corpora() -> None:
    one, two = summarise([OrderPair((0,), (0,))]), summarise([OrderPair((0, 1), (0, 1))])
    with pytest.raises(DataError, match="different corpora"):
        spread([one, two])


def test_no_document_has_no_score() -> None:
    with pytest.raises(DataError, match="no document"):
        Tally().score()
