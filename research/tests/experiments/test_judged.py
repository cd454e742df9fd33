"""The experiment on judges: every way at every number of questions, on made-up data."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from unshuffle.errors import ConfigError
from unshuffle.evaluation.trust import Unjudged
from unshuffle.judge.contracts import Trust
from unshuffle.system.folder import save_model
from unshuffle.training.corpus import read_splits
from unshuffle_research.experiments import judged
from unshuffle_research.experiments.asking import Oracle, ordered_usefully, ordered_without_model
from unshuffle_research.experiments.judged import judged_by, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("judged")
    for seed, split in enumerate(("train", "valid", "test")):
        rows = [
            {"id": one.id, "sentences": one.sentences} for one in random_documents(12, sentences=(3, 5), seed=20 + seed)
        ]
        (place / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    save_model(tiny_model("irse-grn-judge", place, random_documents(12, seed=20)), place / "model")
    return place


def test_a_judge_may_keep_its_own_trust(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = read_splits(folder).test
    own = Oracle(documents, 1.0, 1)
    own.trust = Trust(reliability=0.9)
    monkeypatch.setattr(judged, "open_judge", lambda place, model, cache: own)
    given = (str(folder / "model"), [f"made-up={folder}"], ["mine=somewhere"], folder / "own")
    found = [json.loads(run(*given, documents=12, fitted_on=fitted)[0].read_text()) for fitted in (0, 12)]
    assert found[0]["trust"]["reliability"] == 0.9 and found[0]["fitted_on"] == 0
    assert found[1]["trust"]["reliability"] != 0.9


def test_more_questions_to_an_oracle_help_and_useful_ones_most(folder: Path) -> None:
    out = folder / "results"
    written = run(
        str(folder / "model"),
        [f"made-up={folder}"],
        ["oracle", "oracle:0.5"],
        out,
        documents=12,
        fitted_on=12,
        label="tried",
        curves=True,
    )
    names = ["made-up-oracle.json", "made-up-oracle-0.5.json", "made-up-curve.json"]
    assert written == [out / "tried" / name for name in names]
    found = json.loads(written[0].read_text())
    tau = {(point["way"], point["questions"]): point["tau"] for point in found["points"]}
    assert tau["ranker", None] == 100 and tau["useful", None] > tau["useful", 0]
    assert tau["useful", 0] == tau["random", 0] == tau["weights", 0]
    assert all(point["share"] <= 1 for point in found["points"])
    assert {"command", "commit", "versions", "minutes", "trust", "spend"} <= set(found)
    curve = json.loads(written[-1].read_text())["tau_by_reliability"]
    assert len(curve) == 9 and all(-100 <= value <= 100 for value in curve.values())
    assert (out / "tried" / "made-up.svg").is_file()
    with gzip.open(out / "tried" / "made-up-oracle.taus.jsonl.gz", "rt") as lines:
        each = {(row["way"], row["questions"]): row["tau"] for row in map(json.loads, lines)}
    assert {key: round(sum(values) / len(values), 2) for key, values in each.items()} == pytest.approx(tau, abs=0.011)
    assert found["right"] == 100 and 30 < json.loads(written[1].read_text())["right"] < 70


def test_a_judge_that_does_not_help_a_model_is_still_asked_without_one() -> None:
    document = random_documents(1, sentences=5, seed=3)[0]
    one = Unjudged(document, tuple(range(5)), tuple(range(5)), np.full((5, 5), 0.5))
    judge = Oracle([document], 1.0, 1)
    judge.trust = Trust(reliability=0.5)
    order, asked = ordered_without_model(one, judge, 10, judge.trust)
    assert tuple(order) == (0, 1, 2, 3, 4) and asked > 0
    assert ordered_usefully(one, judge, 10, judge.trust)[1] == 0


def test_a_judge_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected oracle"):
        judged_by("someone", [], 1, None)
