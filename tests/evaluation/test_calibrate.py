import numpy as np
import pytest

from unshuffle.errors import DataError
from unshuffle.evaluation.calibrate import ENOUGH, Observed, fit_calibration, isotonic, keep_below, thresholds
from unshuffle.evaluation.reliability import reliability
from unshuffle.system.calibration import Calibration, Evidence


def overconfident(count: int, seed: int) -> list[Observed]:
    """A model that claims more agreement than its orders have, the more so the longer they are."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        size = int(rng.integers(2, 20))
        truth = rng.uniform(0.4, 1.0)
        agreement = min(1.0, truth + 0.02 * size)
        share = float(np.clip(truth + rng.normal(0, 0.1), 0, 1))
        found.append(Observed(Evidence(agreement, float(-2 * size * (1 - truth)), size, 20.0), share))
    return found


@pytest.mark.parametrize("method", ["logistic", "isotonic"])
def test_calibrated_confidence_meets_the_truth_on_other_documents(method: str) -> None:
    calibration = fit_calibration(overconfident(1500, 1), method=method)  # type: ignore[arg-type]
    held = overconfident(1500, 2)
    share = [one.share for one in held]
    before = reliability([one.evidence.agreement for one in held], share).error
    after = reliability([calibration.confidence(one.evidence) for one in held], share).error
    assert before > 0.1 and after < 0.03


def test_weights_decide_whose_truth_counts() -> None:
    same = Evidence(0.8, -3.0, 6, 20.0)
    observed = [Observed(same, 1.0), Observed(same, 0.0)] * 50
    calibration = fit_calibration(observed, [9.0, 1.0] * 50)
    assert calibration.confidence(same) == pytest.approx(0.9, abs=0.02)


def test_isotonic_is_the_nearest_rising_curve() -> None:
    x = np.array([0.1, 0.2, 0.3, 0.4])
    knots = isotonic(x, np.array([0.1, 0.5, 0.3, 0.9]), np.ones(4))
    assert np.array(knots) == pytest.approx(np.array([(0.1, 0.1), (0.25, 0.4), (0.4, 0.9)]))


def test_no_point_of_the_curve_rests_on_few_documents() -> None:
    rng = np.random.default_rng(1)
    chance = rng.uniform(size=1000)
    share = np.where(chance > 0.995, 1.0, np.where(chance < 0.005, 0.0, 0.7))  # a handful at either end
    after = [point for _, point in isotonic(chance, share, np.ones(1000))]
    assert len(after) <= 50 and 0.4 < after[0] < 0.7 < after[-1] < 0.95


def test_reliability_weighs_bins_by_their_documents() -> None:
    found = reliability([0.95, 0.95, 0.55, 1.0], [0.9, 0.9, 0.75, 1.0])
    assert found.error == pytest.approx((3 * abs(2.9 / 3 - 2.8 / 3) + 0.2) / 4)
    assert [row.documents for row in found.bins] == [0, 0, 0, 0, 0, 1, 0, 0, 0, 3]


def test_reliability_needs_something_to_compare() -> None:
    with pytest.raises(DataError, match="nothing to compare"):
        reliability([], [])


def test_the_threshold_is_the_lowest_above_which_enough_is_right() -> None:
    calibration = fit_calibration(overconfident(1500, 1))
    held = overconfident(1500, 2)
    least = keep_below(calibration, [(one, 1.0) for one in held])

    def right(threshold: float) -> float:
        return float(np.mean([one.share for one in held if calibration.confidence(one.evidence) >= threshold]))

    assert 0.5 < least < 1 and right(least) >= ENOUGH > right(least - 0.02)


def test_higher_thresholds_take_fewer_orders_of_which_more_is_right() -> None:
    calibration = fit_calibration(overconfident(1500, 1))
    rows = thresholds(calibration, [(one, 1.0) for one in overconfident(1500, 2)])
    taken, right = [row.taken for row in rows], [row.right for row in rows if row.right is not None]
    assert taken[0] == 1.0 and taken == sorted(taken, reverse=True) and right == sorted(right)
    nobody = thresholds(calibration, [(Observed(Evidence(0.0, -99.0, 9, 20.0), 0.5), 1.0)])
    assert (nobody[-1].taken, nobody[-1].right) == (0.0, None)


def test_equal_confidences_stand_or_fall_together_and_a_hopeless_model_keeps_every_order() -> None:
    same = Evidence(0.8, -3.0, 6, 20.0)
    calibration = fit_calibration([Observed(same, 0.7)] * 30)
    assert keep_below(calibration, [(Observed(same, 1.0), 1.0), (Observed(same, 0.5), 1.0)]) == 1.0
    assert keep_below(calibration, [(Observed(same, 1.0), 1.0), (Observed(same, 0.7), 1.0)]) < 1.0


def test_orders_that_are_all_right_are_all_taken_at_a_threshold_that_is_not_1() -> None:
    calibration = Calibration(intercept=20.0, agreement=0.0, choice=0.0, length=0.0)
    held = [Observed(Evidence(0.99, -0.1, size, 10.0), 1.0) for size in range(2, 20)]
    least = keep_below(calibration, [(one, 1.0) for one in held])
    assert least == ENOUGH < min(calibration.confidence(one.evidence) for one in held)


def test_equal_chances_are_one_point_of_the_curve_whichever_comes_first() -> None:
    chance, share = np.full(100, 0.3), np.linspace(0, 1, 100)
    weight = np.random.default_rng(0).random(100) + 0.1
    for way in (1, -1):
        knots = isotonic(chance, share[::way], weight[::way])
        assert np.array(knots) == pytest.approx(np.array([(0.3, np.average(share, weights=weight))]))
        calibration = Calibration(intercept=0.0, agreement=0.0, choice=0.0, length=0.0, knots=knots)
        assert Calibration.read(calibration.write()) == calibration
