"""Every experiment runs to its end, goes on where it was cut off, and trains nothing twice."""

import contextlib
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from unshuffle.errors import ConfigError
from unshuffle.evaluation.predict import figures
from unshuffle.evaluation.results import plain, read_predictions
from unshuffle.text.document import Document
from unshuffle_research.experiments.oracle import weighed
from unshuffle_research.experiments.run import EXPERIMENTS
from unshuffle_research.experiments.settings import experiment_names, load_settings

Run = Callable[..., tuple[Path, list[Path], list[str]]]
PAIR = ["se-grn", "irse-grn"]
CHOSEN: dict[str, dict[str, Any]] = {
    "main": {"systems": PAIR},
    "pairwise": {},
    "length": {"systems": PAIR},
    "head-tail": {"systems": PAIR},
    "ablation": {"systems": ["full", "one-round", "no-iterative", "no-cross-fitting", "bucketed-gate"]},
    "cost": {"systems": PAIR},
    "density": {},
    "controls": {"systems": ["irse-grn-tuned", "irse-grn-unrefined-fh"]},
    "oracle": {},
}


def described(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_each_experiment_has_settings_and_a_function() -> None:
    assert sorted(EXPERIMENTS) == experiment_names()
    assert all(load_settings(name).systems for name in EXPERIMENTS)


@pytest.mark.parametrize("name", list(CHOSEN))
def test_an_experiment_leaves_figures_that_can_be_believed(name: str, run: Run) -> None:
    out, (path,), _ = run(name, **CHOSEN[name])
    sheet = described(path)
    assert sheet["command"] and sheet["versions"]["torch"] and "commit" in sheet and sheet["tables"][0]["rows"]
    assert path.with_suffix(".md").read_text(encoding="utf-8").startswith(f"# {sheet['title']}")
    for plot in sheet["plots"]:
        assert b"<svg" in (out / name / f"{plot['file']}.svg").read_bytes()
    rows = [file for file in (out / name).glob("*.json") if not file.name.startswith("summary-")]
    assert rows
    for file in rows:
        one = described(file)
        assert {"system", "dataset", "seed", "command", "commit", "versions", "minutes", "stages"} <= one.keys()
        assert not one["comparable"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f'id="{name}"' in page and 'src="data:image/svg+xml' in page


def test_figures_can_be_had_again_from_the_orders(run: Run) -> None:
    out, _, _ = run("main", systems=PAIR)
    for file in (out / "main").glob("*-nips-1.json"):
        again = plain(figures(read_predictions(file.with_suffix(".orders.jsonl.gz"))))
        assert again == described(file)["test"]
        assert b"sentences" not in gzip.decompress(file.with_suffix(".orders.jsonl.gz").read_bytes())


def test_a_second_call_trains_nothing_and_finds_the_same(run: Run) -> None:
    first = run("main", systems=PAIR)
    again = run("main", systems=PAIR)
    assert again[2] == []
    assert described(first[1][0])["figures"] == described(again[1][0])["figures"]


@pytest.mark.parametrize("name", ["main", "length", "head-tail", "ablation", "density"])
def test_results_are_read_back_where_models_are_gone(name: str, run: Run, tmp_path: Path) -> None:
    out, (path,), _ = run(name, **CHOSEN[name])
    before = {file: file.read_bytes() for file in (out / name).glob("*-nips-1.*")}
    first = described(path)
    _, _, trained = run(name, **CHOSEN[name], runs=tmp_path / "gone", training=False)
    again = described(path)
    assert trained == []
    assert (again["figures"], again["tables"]) == (first["figures"], first["tables"])
    assert all("read" in one for one in again["runs"]) and not any("read" in one for one in first["runs"])
    assert before == {file: file.read_bytes() for file in (out / name).glob("*-nips-1.*")}
    assert "read back from" in (out / "report.html").read_text(encoding="utf-8")


def test_results_of_other_settings_are_not_read_back(run: Run, tiny: list[str], tmp_path: Path) -> None:
    run("main", systems=PAIR)
    gone: dict[str, Any] = {"runs": tmp_path / "gone", "training": False, "systems": PAIR}
    for other in ({"shuffles": 3}, {"beam": 3}, {"seeds": [7]}, {"changes": [*tiny, "training.batch=3"]}):
        with pytest.raises(ConfigError, match="no model was ready"):
            run("main", **gone, **other)
    _, (path,), _ = run("main", **{**gone, "systems": [*PAIR, "se-grn-relations"]})
    assert described(path)["notes"][-1] == "Not trained yet: SE-GRN with entity relations."
    with pytest.raises(ConfigError, match="no model was ready"):
        run("cost", **gone)  # orders cannot be timed


def test_classifiers_are_trained_once_for_all_that_share_them(run: Run, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    _, _, first = run("pairwise", runs=runs)
    assert {"initial-all", "iterative-all", "initial-0of2"} <= set(first)
    _, _, decoder = run("main", systems=["irse-grn-fh"], runs=runs)
    assert decoder == ["ordering"]
    _, _, full = run("ablation", systems=["full"], runs=runs)
    assert full == []  # the same as irse-grn
    _, _, others = run(
        "ablation", systems=["one-round", "no-iterative", "no-cross-fitting", "bucketed-gate"], runs=runs
    )
    assert others == ["ordering"]
    _, _, noise = run("ablation", systems=["clean"], runs=runs)
    assert noise == ["iterative-0of2", "iterative-1of2", "iterative-all", "ordering"]
    _, _, alone = run("ablation", systems=["no-initial"], runs=runs)
    assert "initial-all" not in alone
    assert len(list((runs / "stages" / "nips").glob("initial-all-*"))) == 1


def test_what_is_shared_does_not_depend_on_who_came_first(run: Run, tmp_path: Path) -> None:
    """A classifier trained on the way to one decoder is, number by number, the one trained on the way to another."""
    states = []
    for system in ("irse-grn", "irse-grn-fh"):
        run("main", systems=[system], runs=tmp_path / system, out=tmp_path / "results")
        (stage,) = (tmp_path / system / "stages" / "nips").glob("iterative-all-*")
        (state,) = stage.glob("*.safetensors")
        states.append((stage.name, state.read_bytes()))
    assert states[0] == states[1]


def test_minutes_end_stages_and_say_so(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "results"
    with contextlib.suppress(ConfigError):  # a slow machine has no model ready in so short a time, and says so
        run("main", systems=PAIR, minutes=0.003, runs=tmp_path / "runs", out=out)
    cut = [described(file) for file in (out / "main").glob("*-nips-1.json")]
    assert all(one["stages"] for one in cut)
    _, _, rest = run("main", systems=PAIR, runs=tmp_path / "runs", out=out)
    assert len(list((out / "main").glob("*-nips-1.json"))) == 2
    assert len(cut) == 2 or rest


def test_what_cannot_be_is_one_line(run: Run, data: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'main'"):
        run("mian")
    with pytest.raises(ConfigError, match="no such row"):
        run("main", systems=["se-grm"])
    with pytest.raises(ConfigError, match=r"no row 'se-gnr'.*Did you mean 'se-grn'"):
        run("main", changes=["se-gnr:training.batch=8"])
    with pytest.raises(ConfigError, match="no such folder"):
        run("main", data=["nips=nowhere"])
    with pytest.raises(ConfigError, match="--texts"):
        run("summaries", systems=["se-grn"])


def test_summaries_are_put_in_order(run: Run, tmp_path: Path) -> None:
    from tests.fixtures.documents import stories

    file = tmp_path / "made-up.jsonl"
    documents: list[Document] = stories()
    file.write_text("\n".join(json.dumps({"id": one.id, "sentences": one.sentences}) for one in documents))
    out, (path,), _ = run("summaries", systems=["se-grn"], texts=[f"tales={file}"])
    rows = described(path)["tables"][0]["rows"]
    assert [row[0] for row in rows] == ["as written", "shuffled", "SE-GRN"]
    assert "reconstructed" in " ".join(described(path)["notes"])
    assert (out / "summaries" / "se-grn-nips-tales-1.orders.jsonl.gz").is_file()


def test_weights_of_a_known_reliability_are_right_as_often_as_that(model_items: list[Any]) -> None:
    for reliability in (0.5, 0.75, 1.0):
        right = pairs = 0
        for item in weighed(model_items, reliability, 1):
            first, second = item.graph.pairs
            weights = item.graph.weights
            sure = min(reliability, 0.99)
            assert np.isclose(weights, sure).sum() + np.isclose(weights, 1 - sure).sum() >= len(weights)
            right += int(((weights > 0.5) == (first < second)).sum())
            pairs += len(first)
        if reliability > 0.5:
            assert abs(right / pairs - reliability) < 0.04


@pytest.fixture(scope="module")
def model_items(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    model = tiny_model("irse-grn-unrefined", tmp_path_factory.mktemp("oracle"))
    return list(model.preparer.items(random_documents(200, sentences=(5, 8), seed=3)))


def test_a_row_trained_in_another_precision_is_another_model(run: Run, tiny: list[str]) -> None:
    out, _, trained = run("main", systems=["se-grn"], changes=[*tiny, "se-grn:precision=bf16"])
    assert trained == ["ordering"]
    assert described(out / "main" / "se-grn-nips-1.json")["precision"] == "bf16"
    with pytest.raises(ConfigError, match="precision=16"):
        run("main", systems=["se-grn"], changes=[*tiny, "precision=16"])
