"""Settings of fine-tuning."""

from pathlib import Path

import pytest

from unshuffle.system.rows import load_row
from unshuffle.training.adaptation import FineTuning, settings


@pytest.mark.parametrize("row", ["se-grn", "irse-grn", "irse-grn-bert-fh"])
@pytest.mark.parametrize("refiner", [False, True])
def test_all_that_is_trained_keeps_to_the_minutes(row: str, refiner: bool) -> None:
    job = FineTuning(source="default", documents=(), out=Path("out"), minutes=12.0, refiner=refiner)
    training = settings(job, load_row(row).system)
    classifiers = 2 * training.folds * training.classifier_minutes if refiner else 0.0
    assert training.minutes + classifiers == pytest.approx(12.0)
