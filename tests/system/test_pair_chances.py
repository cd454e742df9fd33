"""Pair probabilities that agree with confidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unshuffle.system.assemble import agreeing, agreement, pair_shares

ORDERS = [(2, 0, 1, 3), (2, 1, 0, 3), (0, 2, 1, 3)]
LOGS = [-0.4, -1.6, -2.5]


def test_shares_are_weighed_by_probability() -> None:
    shares = pair_shares(ORDERS, LOGS)
    weight = np.exp(LOGS) / np.exp(LOGS).sum()
    assert shares[2, 0] == pytest.approx(weight[0] + weight[1])
    assert shares[0, 1] == pytest.approx(weight[0] + weight[2])
    assert shares[2, 3] == pytest.approx(1)


def test_probabilities_too_small_for_a_float_still_weigh() -> None:
    far = [log - 2_000 for log in LOGS]
    np.testing.assert_allclose(pair_shares(ORDERS, far), pair_shares(ORDERS, LOGS))


@given(st.floats(0.5, 0.99), st.floats(0, 3))
def test_the_mean_of_the_pairs_is_the_confidence(confidence: float, distance: float) -> None:
    chances = agreeing(ORDERS[0], pair_shares(ORDERS, LOGS), confidence, distance)
    assert agreement(ORDERS[0], chances) == pytest.approx(confidence, abs=1e-6)
    np.testing.assert_allclose(chances + chances.T, 1)


def test_far_pairs_are_surer_than_neighbours() -> None:
    order = (0, 1, 2, 3)
    chances = agreeing(order, pair_shares([order], [0.0]), 0.8, 1.0)
    assert chances[0, 3] > chances[0, 2] > chances[0, 1] == pytest.approx(chances[2, 3])
