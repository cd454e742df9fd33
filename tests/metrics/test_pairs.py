"""Pair decisions: no credit for a constant, calibration that does not depend on who is called first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle.errors import ConfigError, DataError
from unshuffle.metrics import brier, calibration, pairwise_accuracy, two_sided_pairs

chances = st.floats(0, 1)
cases = st.lists(st.tuples(chances, chances, st.booleans()), min_size=1, max_size=30)
# In 64ths 1 - p is exact, so that a probability near a bin's edge cannot change bins by rounding.
round_chances = st.integers(0, 64).map(lambda part: part / 64)
round_cases = st.lists(st.tuples(round_chances, round_chances, st.booleans()), min_size=1, max_size=30)


@settings(deadline=None)
@given(chances, st.lists(st.booleans(), min_size=1, max_size=20))
def test_a_constant_classifier_asked_both_ways_scores_exactly_half(constant: float, truth: list[bool]) -> None:
    answers = [constant] * len(truth)
    assert pairwise_accuracy(answers, truth, backward=answers) == 0.5


@settings(deadline=None)
@given(chances, st.integers(1, 20))
def test_a_constant_classifier_scores_exactly_half_on_symmetric_pairs(constant: float, pairs: int) -> None:
    assert pairwise_accuracy([constant] * 2 * pairs, [True, False] * pairs) == 0.5


@settings(deadline=None)
@given(round_cases)
def test_which_sentence_is_called_first_changes_no_measure(rows: list[tuple[float, float, bool]]) -> None:
    forward, backward, truth = (np.array(column) for column in zip(*rows, strict=True))
    flipped = ~truth
    assert pairwise_accuracy(forward, truth, backward) == pytest.approx(pairwise_accuracy(backward, flipped, forward))
    both = two_sided_pairs(forward, backward)
    assert brier(both, truth) == pytest.approx(brier(1 - both, flipped))
    assert calibration(both, truth).error == pytest.approx(calibration(1 - both, flipped).error)


def test_ties_count_half_and_decisions_whole() -> None:
    assert pairwise_accuracy([0.9, 0.5, 0.2, 0.6], [True, True, True, False]) == pytest.approx(1.5 / 4)


def test_brier_is_zero_for_the_truth_and_a_quarter_for_no_opinion() -> None:
    assert brier([1.0, 0.0], [True, False]) == 0
    assert brier([0.5, 0.5], [True, False]) == 0.25


@settings(deadline=None)
@given(cases, st.integers(1, 12))
def test_calibration_error_equals_a_loop_over_bins(rows: list[tuple[float, float, bool]], bins: int) -> None:
    probability, truth = np.array([row[0] for row in rows]), np.array([row[2] for row in rows])
    edges = np.round(np.linspace(0, 1, bins + 1), 12)
    rounded = np.round(probability, 12)
    error = 0.0
    for at in range(bins):
        last = at == bins - 1
        inside = (rounded >= edges[at]) & ((rounded < edges[at + 1]) | last)
        if inside.any():
            error += inside.mean() * abs(probability[inside].mean() - truth[inside].mean())
    result = calibration(probability, truth, bins=bins, both_sides=False)
    assert result.error == pytest.approx(error)
    assert sum(row.pairs for row in result.bins) == len(rows)


def test_drawn_answers_are_well_calibrated_and_sharpened_ones_are_not() -> None:
    generator = np.random.default_rng(0)
    probability = generator.random(20_000)
    truth = generator.random(20_000) < probability
    for equal_mass in (False, True):
        assert calibration(probability, truth, equal_mass=equal_mass).error < 0.02
        assert calibration(np.round(probability), truth, equal_mass=equal_mass).error > 0.2


def test_gold_first_pairs_do_not_make_a_sure_classifier_look_calibrated() -> None:
    """With truth always 1, saying 1 always is perfect one-sidedly; a fair coin is what looks wrong there."""
    coin, truth = [0.5] * 10, [True] * 10
    assert calibration(coin, truth, both_sides=False).error == 0.5
    assert calibration(coin, truth).error == 0


def test_bins_of_equal_mass_hold_equally_many_pairs() -> None:
    generator = np.random.default_rng(0)
    probability = generator.random(1000) ** 3
    result = calibration(probability, probability > 0.5, bins=5, equal_mass=True, both_sides=False)
    assert [row.pairs for row in result.bins] == [200] * 5
    assert [row.upper for row in result.bins][:-1] == [row.lower for row in result.bins][1:]


def test_equal_mass_keeps_equal_probabilities_together() -> None:
    result = calibration([0.7] * 9, [True] * 6 + [False] * 3, bins=3, equal_mass=True, both_sides=False)
    assert [row.pairs for row in result.bins] == [9]
    assert result.error == pytest.approx(0.7 - 6 / 9)


@pytest.mark.parametrize(
    ("probability", "truth"), [([], []), ([0.5], [1, 0]), ([float("nan")], [1]), ([1.5], [1]), ([0.5], [0.3])]
)
def test_what_is_no_pair_decision_is_refused(probability: list[float], truth: list[float]) -> None:
    with pytest.raises(DataError, match="pairs:"):
        brier(probability, truth)


def test_no_bins_are_refused() -> None:
    with pytest.raises(ConfigError, match="bins"):
        calibration([0.5], [1], bins=0)
