"""Resampling documents: right when there is a difference, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from unshuffle.errors import ConfigError, DataError
from unshuffle.metrics import OrderPair, accuracy, bootstrap_band, document_values, paired_bootstrap, summarise


def test_equal_systems_differ_by_nothing() -> None:
    values = np.random.default_rng(0).random(50)
    result = paired_bootstrap(values, values, np.random.default_rng(0), draws=500)
    assert (result.difference, result.lower, result.upper, result.p_value) == (0, 0, 0, 1)


def test_a_clear_difference_is_significant_and_inside_its_interval() -> None:
    generator = np.random.default_rng(0)
    base = generator.random(200)
    result = paired_bootstrap(base + generator.normal(0.1, 0.1, 200), base, generator, draws=2000)
    assert result.p_value < 0.01
    assert 0 < result.lower < result.difference < result.upper


def test_exchanging_the_systems_flips_the_sign_only() -> None:
    generator = np.random.default_rng(0)
    one, other = generator.random(40), generator.random(40)
    ahead = paired_bootstrap(one, other, np.random.default_rng(5), draws=1000)
    behind = paired_bootstrap(other, one, np.random.default_rng(5), draws=1000)
    assert ahead.difference == pytest.approx(-behind.difference)
    assert (ahead.lower, ahead.upper) == pytest.approx((-behind.upper, -behind.lower))
    assert ahead.p_value == behind.p_value


def test_false_alarms_are_about_as_frequent_as_promised() -> None:
    generator = np.random.default_rng(0)
    alarms = [
        paired_bootstrap(generator.random(60), generator.random(60), generator, draws=300).p_value < 0.1
        for _ in range(300)
    ]
    assert 0.05 < np.mean(alarms) < 0.16


def test_the_band_agrees_with_the_normal_approximation() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.2, 400)
    band = bootstrap_band(values, np.random.default_rng(1), draws=4000)
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert band.value == pytest.approx(values.mean())
    assert (band.lower, band.upper) == pytest.approx((band.value - 1.96 * error, band.value + 1.96 * error), abs=0.003)


def test_weights_make_the_micro_average() -> None:
    pairs = [OrderPair((0,), (0,)), OrderPair((1, 2, 0), (0, 1, 2)), OrderPair((0, 2, 1), (0, 1, 2))]
    values = document_values(pairs, accuracy)
    micro = bootstrap_band(values, np.random.default_rng(0), weights=[1, 3, 3], draws=10)
    macro = bootstrap_band(values, np.random.default_rng(0), draws=10)
    assert 100 * micro.value == pytest.approx(summarise(pairs).acc_micro)
    assert 100 * macro.value == pytest.approx(summarise(pairs).acc_macro)


def test_document_values_let_copies_of_a_sentence_stand_for_each_other() -> None:
    pair = OrderPair((1, 0), (0, 1), ("Stop.", "Stop."))
    assert document_values([pair], accuracy).tolist() == [1.0]


def test_the_same_seed_gives_the_same_result_whatever_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random(30)
    at_once = bootstrap_band(values, np.random.default_rng(3), draws=200)
    monkeypatch.setattr("unshuffle.metrics.bootstrap.BLOCK", 90)
    in_blocks = bootstrap_band(values, np.random.default_rng(3), draws=200)
    assert at_once == in_blocks


@pytest.mark.parametrize(("one", "other"), [([1.0], [1.0, 2.0]), ([], []), ([np.nan], [1.0])])
def test_values_that_cannot_be_compared_are_refused(one: list[float], other: list[float]) -> None:
    with pytest.raises(DataError, match="bootstrap"):
        paired_bootstrap(one, other, np.random.default_rng(0))


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="level"):
        bootstrap_band([1.0], np.random.default_rng(0), level=1.0)
    with pytest.raises(DataError, match="weights"):
        bootstrap_band([1.0, 2.0], np.random.default_rng(0), weights=[1.0, 0.0])
