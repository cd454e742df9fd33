"""Intervals of figures and of gains, over documents."""

from dataclasses import asdict

import numpy as np
import pytest

from unshuffle.errors import DataError
from unshuffle.evaluation.predict import MEASURES, Prediction, figures, gains, intervals


def predictions(seed: int, *, documents: int = 60, shuffles: int = 2, right: float = 0.5) -> list[Prediction]:
    chance = np.random.default_rng(seed)
    made = []
    for shuffle in range(shuffles):
        for number in range(documents):
            size = 3 + number % 4
            order = range(size) if chance.random() < right else chance.permutation(size).tolist()
            made.append(Prediction(str(number), shuffle, tuple(order)))
    return made


def test_every_interval_lies_around_the_figure_itself() -> None:
    given = predictions(1)
    mean, bands = figures(given).mean, intervals(given)
    assert set(bands) == set(MEASURES)
    figure = asdict(mean) | {f"within{distance}": share for distance, share in enumerate(mean.within, 1)}
    for name, band in bands.items():
        assert band.value == pytest.approx(figure[name])
        assert band.lower < band.value < band.upper
    assert intervals(given) == bands


def test_more_documents_give_a_narrower_interval_and_more_shuffles_no_false_certainty() -> None:
    def width(given: list[Prediction]) -> float:
        band = intervals(given)["tau"]
        return band.upper - band.lower

    few = predictions(1, documents=30, shuffles=1)
    assert width(predictions(1, documents=300, shuffles=1)) < width(few)
    copies = few + [Prediction(one.id, 1, one.order) for one in few]
    assert width(copies) == pytest.approx(width(few))


def test_one_document_has_no_interval() -> None:
    assert intervals(predictions(1, documents=1)) == {} == gains(*[predictions(1, documents=1)] * 2)


def test_a_gain_has_an_interval_that_tells_it_from_none() -> None:
    old, new = predictions(1, right=0.2), predictions(2, right=0.9)
    gain = gains(old, new)["tau"]
    assert gain.difference == pytest.approx(figures(new).mean.tau - figures(old).mean.tau)
    assert 0 < gain.lower < gain.difference < gain.upper
    none = gains(old, old)["tau"]
    assert none.lower == none.difference == none.upper == 0


def test_gains_need_the_same_documents() -> None:
    with pytest.raises(DataError, match="different documents"):
        gains(predictions(1), predictions(1, documents=50))
