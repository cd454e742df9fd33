"""Two systems on the same documents."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.evaluation.test_intervals import predictions
from unshuffle.errors import DataError
from unshuffle.evaluation.compare import compare, write_comparison
from unshuffle.evaluation.predict import MEASURES, Prediction, figures


def test_every_measure_of_both_and_their_difference_is_given() -> None:
    weak, strong = predictions(1, right=0.2), predictions(2, right=0.9)
    found = compare(weak, strong, ("weak", "strong"))
    assert set(found.measures) == set(MEASURES) and (found.documents, found.shuffles) == (60, 2)
    tau = found.measures["tau"]
    assert tau.first == pytest.approx(figures(weak).mean.tau) and tau.second == pytest.approx(figures(strong).mean.tau)
    assert tau.gain.difference == pytest.approx(tau.second - tau.first)
    assert tau.certain and tau.gain.p_value < 0.01


def test_turned_round_the_difference_changes_its_sign() -> None:
    one, other = predictions(1), predictions(2)
    there, back = compare(one, other), compare(other, one)
    for name in MEASURES:
        assert there.measures[name].gain.difference == pytest.approx(-back.measures[name].gain.difference)


def test_a_system_is_not_ahead_of_itself() -> None:
    given = predictions(1)
    found = compare(given, given)
    assert all(
        one.gain.difference == 0 and one.gain.p_value == 1 and not one.certain for one in found.measures.values()
    )


def test_chance_alone_is_seldom_called_certain() -> None:
    certain = [compare(predictions(seed), predictions(seed + 100)).measures["tau"].certain for seed in range(40)]
    assert sum(certain) <= 8


def test_predictions_are_matched_by_document_and_not_by_their_place_in_the_file() -> None:
    one, other = predictions(1), predictions(2)
    mixed = [other[place] for place in np.random.default_rng(1).permutation(len(other))]
    assert compare(one, mixed) == compare(one, other)


def test_the_groups_of_lengths_hold_every_document_once() -> None:
    found = compare(predictions(1, documents=100), predictions(2, documents=100))
    assert [(group.shortest, group.longest) for group in found.lengths] == [(3, 3), (4, 4), (5, 5), (6, 6)]
    assert sum(group.documents for group in found.lengths) == 100
    few = compare(predictions(1, documents=12), predictions(2, documents=12))
    assert [(group.name, group.documents) for group in few.lengths] == [("3 to 6", 12)]


@pytest.mark.parametrize("other", [predictions(1, documents=59), predictions(1, shuffles=1)])
def test_systems_measured_on_different_documents_are_not_compared(other: list[Prediction]) -> None:
    with pytest.raises(DataError, match="same documents and shuffles"):
        compare(predictions(1), other)


def test_one_document_is_too_few() -> None:
    with pytest.raises(DataError, match="at least two"):
        compare(*[predictions(1, documents=1)] * 2)
    with pytest.raises(DataError, match="no prediction"):
        compare([], [])


def test_it_is_written_as_json_and_as_a_picture(tmp_path: Path) -> None:
    found = compare(predictions(1), predictions(2), ("one", "two"))
    assert json.loads(json.dumps(found.to_json()))["measures"]["tau"]["gain"]["level"] == 0.95
    pytest.importorskip("matplotlib")
    write_comparison(found, tmp_path / "compared.svg")
    written = (tmp_path / "compared.svg").read_bytes()
    write_comparison(found, tmp_path / "compared.svg")
    assert written.startswith(b"<?xml") and (tmp_path / "compared.svg").stat().st_size > 1000
    with pytest.raises(DataError, match="kind of picture"):
        write_comparison(found, tmp_path / "compared.gif")


def test_documents_that_share_an_id_are_told_apart() -> None:
    given = [Prediction("", one.shuffle, one.order) for one in predictions(1)]
    found = compare(given, given)
    assert found.documents == 60 and all(one.gain.difference == 0 for one in found.measures.values())
    with pytest.raises(DataError, match="same documents and shuffles"):
        compare(given, given[:-1])
