"""Tables of judges: seeds are pooled document by document, and what was not measured says so."""

import json
from pathlib import Path

import pytest

from unshuffle.evaluation.results import write_packed
from unshuffle_research.experiments.asking import QUESTIONS, WAYS
from unshuffle_research.tables import judged

ASKED = {0: 50.0, 5: 60.0, 10: 70.0, 20: 80.0, None: 90.0}


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two seeds of a row, the second better by 2 throughout; three documents."""
    for seed in (1, 2):
        folder = tmp_path / f"row-{seed}"
        folder.mkdir()
        tau = {key: value + 2 * (seed - 1) for key, value in ASKED.items()}
        points = [
            {"way": way, "questions": questions, "tau": tau[questions], "share": 0.25}
            for way in WAYS
            for questions in QUESTIONS
        ]
        run = {"dataset": "made-up", "judge": "someone", "documents": 3, "right": 75.0, "points": points}
        (folder / "made-up-someone.json").write_text(json.dumps(run))
        (folder / "made-up-curve.json").write_text(json.dumps({"tau_by_reliability": {"0.5": 50 + seed, "1": 90}}))
        rows = [
            {"way": way, "questions": questions, "tau": [tau[questions] - 1, tau[questions], tau[questions] + 1]}
            for way in WAYS
            for questions in QUESTIONS
        ]
        write_packed(folder / "made-up-someone.taus.jsonl.gz", rows)
    monkeypatch.setattr(judged, "FOLDER", tmp_path)
    return tmp_path


def test_seeds_are_pooled_document_by_document(results: Path) -> None:
    found = judged.judged_seeds("row").splitlines()
    assert len(found) == 6  # head, rule, re-ranked, as link weights, and the plot of the first seed
    assert found[5].endswith("(../research/results/judge/row-1/made-up.svg)")
    assert "| 2 | 51.0 | 61.0 (25%) +10.0 [+10.0, +10.0] |" in found[2]
    assert found[3].endswith("91.0 (25%) +40.0 [+40.0, +40.0] |")


def test_a_model_has_a_table_for_each_data_set(results: Path) -> None:
    found = judged.judged("row-1")
    assert "*made-up*" in found and "someone (75% of pairs right, 3 documents)" in found
    assert found.count("| 50.0 (25%) | 60.0 (25%) |") == len(WAYS)


def test_the_curve_is_the_mean_over_seeds(results: Path) -> None:
    assert judged.judged_curve("row").splitlines()[2] == "| τ, 2 seeds | 51.5 | 90.0 |"


def test_what_was_not_measured_says_so(results: Path) -> None:
    for table in (judged.judged, judged.judged_seeds, judged.judged_curve):
        assert table("nobody") == "*Not run yet.*\n"
