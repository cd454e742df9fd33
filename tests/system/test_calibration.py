from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.fixtures.tiny import tiny_model
from unshuffle.errors import ConfigError
from unshuffle.system.assemble import pieces_per_sentence
from unshuffle.system.calibration import Calibration, Evidence
from unshuffle.system.folder import load_model, save_model
from unshuffle.system.orderer import Orderer

SOME = Calibration(intercept=-0.3, agreement=0.8, choice=0.5, length=-0.2, pieces=0.1)
SENTENCES = ["One apple.", "Two apples fell.", "Three more."]


def test_confidence_rises_with_agreement_and_stays_a_chance() -> None:
    chances = [SOME.confidence(Evidence(agreement, -3.0, 6, 20.0)) for agreement in np.linspace(0, 1, 21)]
    assert chances == sorted(chances)
    assert chances[0] == 0.5 and chances[-1] < 1  # a coin has as much


def test_a_single_sentence_cannot_be_wrong() -> None:
    assert SOME.confidence(Evidence(1.0, 0.0, 1, 20.0)) == 1


def test_impossible_evidence_is_still_answered() -> None:
    assert 0 <= SOME.confidence(Evidence(0.0, -1e9, 500, 1.0)) <= 1


def test_knots_bend_the_curve() -> None:
    bent = replace(SOME, knots=((0.2, 0.4), (0.8, 0.6)))
    assert bent.curved(0.5) == pytest.approx(0.5)
    assert bent.curved(0.0) == 0.4 and bent.curved(1.0) == 0.6


def test_what_is_written_is_read_back() -> None:
    bent = replace(SOME, knots=((0.2, 0.4), (0.8, 0.6)))
    assert Calibration.read(bent.write()) == bent


def test_a_file_from_before_the_length_of_sentences_was_looked_at_still_counts() -> None:
    older = {name: value for name, value in SOME.write().items() if name != "pieces"}
    short, long = (Evidence(0.8, -3.0, 6, pieces) for pieces in (5.0, 40.0))
    assert Calibration.read(older).confidence(short) == Calibration.read(older).confidence(long)
    assert SOME.confidence(short) < SOME.confidence(long)


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        {"format": 2},
        {**SOME.write(), "length": "long"},
        {**SOME.write(), "length": float("nan")},
        {**SOME.write(), "choice": True},
        {**SOME.write(), "knots": [[0.1]]},
        {**SOME.write(), "harmless": ["int4"]},
        {**SOME.write(), "harmless": 8},
        {**SOME.write(), "knots": [[0.5, 0.9], [0.6, 0.2]]},
        {**SOME.write(), "knots": [[0.5, 2.0]]},
        {**SOME.write(), "knots": [[0.5, 10**400]]},
        {**SOME.write(), "length": 10**400},
        {**SOME.write(), "distance": 10**400},
        {**SOME.write(), "keep_below": -(10**400)},
    ],
)
def test_a_broken_calibration_is_refused(plain: object) -> None:
    with pytest.raises(ConfigError, match=r"calibration\.json: .* Fit it again"):
        Calibration.read(plain)


def test_a_model_folder_carries_it(tmp_path: Path) -> None:
    model = tiny_model()
    raw = Orderer(model).order(SENTENCES)
    save_model(replace(model, calibration=SOME.write()), tmp_path)
    found = Orderer(load_model(str(tmp_path))).order(SENTENCES)
    assert found.order == raw.order
    pieces = pieces_per_sentence([encoded.ids for encoded in model.preparer.tokenizer.encode(SENTENCES)])
    expected = SOME.confidence(Evidence(raw.confidence, np.log(raw.probability), 3, pieces))
    assert found.confidence == pytest.approx(expected, abs=1e-6)


def test_the_threshold_is_kept_and_an_older_file_has_none() -> None:
    kept = replace(SOME, keep_below=0.7)
    assert Calibration.read(kept.write()) == kept
    assert Calibration.read({name: value for name, value in SOME.write().items() if name != "keep_below"}) == SOME
    for wrong in (1.5, -0.1, "high", float("nan"), True):
        with pytest.raises(ConfigError, match="keep_below"):
            Calibration.read({**SOME.write(), "keep_below": wrong})
