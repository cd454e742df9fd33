"""The leak study emulates what it says, and neither the product nor an experiment can reach it."""

import copy
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.fixtures.corpora import tiny_settings, write_corpus
from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from unshuffle.evaluation.predict import shuffled
from unshuffle.graph.batch import collate
from unshuffle.metrics.orders import tau
from unshuffle.refine.classifier import normalised
from unshuffle.refine.iterative import Refiner
from unshuffle.system.folder import save_model
from unshuffle.training import classifiers, stages
from unshuffle.training.classifiers import IterativeStage, pair_truth, with_weights
from unshuffle.training.loop import draw
from unshuffle_research.leaks import train as leaked_training
from unshuffle_research.leaks.direction import Case, refined
from unshuffle_research.leaks.sort import coin_flips, indexed_sort, sorted_as
from unshuffle_research.leaks.study import study
from unshuffle_research.leaks.trained import Trained, measure


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory):  # noqa: ANN201
    return tiny_model("irse-grn", tmp_path_factory.mktemp("model"), changes=["graph.relations=none"])


@torch.inference_mode()
def cases(model) -> list[tuple[Case, object, object]]:  # noqa: ANN001
    found = []
    for document, permutation in shuffled(random_documents(8, sentences=(3, 7), seed=3), 0, 1):
        batch = collate([model.preparer.item(document)])
        encoded = model.network.sentence_encoder(batch)
        place = torch.tensor(permutation)
        truth = place[batch.graph.pairs[0]] < place[batch.graph.pairs[1]]
        refiner = model.network.refiner
        assert isinstance(refiner, Refiner)
        found.append((Case.of(refiner, batch, encoded, truth), refiner(batch, encoded), truth))
    return found


@torch.inference_mode()
def test_asked_honestly_it_is_the_packages_own_refinement(model) -> None:  # noqa: ANN001
    for case, own, truth in cases(model):
        honest = refined(case, told=False)
        assert torch.allclose(torch.where(truth, honest.predicted, 1 - honest.predicted), own.predicted, atol=1e-6)
        assert torch.allclose(honest.half, own.weights, atol=1e-6)


@torch.inference_mode()
def test_a_tendency_to_say_yes_pays_only_where_the_truth_is_told(model) -> None:  # noqa: ANN001
    for case, _, _ in cases(model):
        unsure = case.unsure(case.start)
        yes = refined(case, told=True, bias=1e5).predicted
        no = refined(case, told=True, bias=-1e5).predicted
        assert (yes[unsure] >= 0.5).all() and (no[unsure] < 0.5).all()
        fair = case.logits(torch.full((len(case.truth),), 0.5))
        assert ((normalised(fair + 1) > 0.5) == (normalised(fair) > 0.5)).all()
        assert (refined(case, told=False).predicted[~unsure] == case.start[~unsure]).all()


def test_the_true_numbering_turns_coin_flips_into_orders() -> None:
    draw = np.random.default_rng(0)
    scores = {}
    for size in (5, 10):
        told = [tau(indexed_sort(coin_flips(size, draw)), range(size)) for _ in range(1500)]
        blind = [
            tau(sorted_as(coin_flips(size, draw), draw.permutation(size).tolist()), range(size)) for _ in range(1500)
        ]
        scores[size] = (float(np.mean(told)), float(np.mean(blind)))
    # The released file itself, run on coin flips, gives 0.39 and 0.64.
    assert scores[5][0] == pytest.approx(0.39, abs=0.04) and scores[10][0] == pytest.approx(0.64, abs=0.04)
    assert abs(scores[5][1]) < 0.05 and abs(scores[10][1]) < 0.05


def test_without_contradictions_both_numberings_agree() -> None:
    before = np.triu(np.ones((6, 6), bool), 1)
    assert indexed_sort(before) == sorted_as(before, [3, 1, 5, 0, 2, 4]) == list(range(6))


def test_the_study_writes_its_tables(model, tmp_path: Path) -> None:  # noqa: ANN001
    save_model(model, tmp_path / "model")
    folder, data = tmp_path / "model", write_corpus(tmp_path)
    out = tmp_path / "results" / "leaks"
    path = study([folder], f"nips={data}", out, tmp_path / "parses", told=[folder], beam=2)
    sheet = json.loads(path.read_text(encoding="utf-8"))
    assert len(sheet["tables"]) == 5 and (out / "nips-bias.svg").is_file()
    assert sheet["figures"]["honestly"] == sheet["figures"]["with the leak"]  # it is one and the same model here
    assert (out / "irse-grn-told-nips-1.json").is_file()
    assert "What the leaks are worth" in (tmp_path / "results" / "report.html").read_text(encoding="utf-8")
    (run,) = out.glob("irse-grn-nips-1.json")
    assert {"command", "commit", "versions", "minutes", "pairs", "orders", "sorts"} <= json.loads(
        run.read_text()
    ).keys()


def test_a_training_with_the_leak_chooses_and_teaches_by_told_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, tiny = write_corpus(tmp_path), tuple(tiny_settings(tmp_path))
    asked: list[str] = []
    score, weights = leaked_training.told_score, leaked_training.told_weights
    monkeypatch.setattr(leaked_training, "told_score", lambda stage: asked.append("score") or score(stage))
    monkeypatch.setattr(leaked_training, "told_weights", lambda *given: asked.append("weights") or weights(*given))
    honest = IterativeStage.score, stages.with_weights, classifiers.training_weights
    jobs = [
        leaked_training.Told(changes=tiny),
        leaked_training.Told("irse-grn", 1, "released", (*tiny, "training.folds=1", "training.classifier_epochs=2")),
        leaked_training.Told("irse-grn-fh", 1, "released", (*tiny, "training.folds=1", "training.classifier_epochs=2")),
    ]
    trained: list[list[str]] = []
    for job in jobs:
        asked.clear()
        trained.append([])
        leaked_training.train_told(
            f"nips={data}",
            tmp_path / "told" / job.name,
            tmp_path / "runs",
            job=job,
            report=lambda progress: trained[-1].append(progress.stage),
        )
        # Two folds, or all documents at once; and the validation documents.
        assert asked.count("weights") == (3 if job.recipe == "paper" else 2)
        assert (IterativeStage.score, stages.with_weights, classifiers.training_weights) == honest
    assert "iterative-all" in trained[1] and "iterative-all" not in trained[2]  # the second decoder takes them over
    found = [Trained(job.system, job.seed, job.recipe, tmp_path / "told" / job.name) for job in jobs]
    assert [len(one.checkpoints) for one in found[1:]] == [2, 2]
    out = tmp_path / "results" / "leaks-trained"
    path = measure(found, f"nips={data}", out, tmp_path / "runs" / "parses", beam=2)
    sheet = json.loads(path.read_text(encoding="utf-8"))
    assert len(sheet["tables"][1]["rows"]) == 6 and (out / "nips-checkpoints.svg").is_file()
    run = json.loads((out / "released-irse-grn-fh-nips-1.json").read_text(encoding="utf-8"))
    assert {"command", "commit", "versions", "minutes", "stages", "orders"} <= run.keys()
    assert all({"honest", "told", "yes"} <= point.keys() for point in run["checkpoints"])


def test_the_released_recipe_hides_a_few_pairs_and_makes_none_wrong(model) -> None:  # noqa: ANN001
    items = list(model.preparer.items(random_documents(300, sentences=(5, 8), seed=6)))
    hidden = pairs = 0
    for number in range(20):
        drawn = draw(items, range(300), number)
        batch, gold = drawn.collated(torch.device("cpu"))
        truth = pair_truth(batch, gold)
        found, count = leaked_training.released_weights(model.network.refiner, drawn, truth, 0.2, lambda: Tensor())
        first, second = batch.graph.pairs
        late = torch.where(truth > 0.5, first > second, second > first)
        assert late[found.changed].all() and int(found.changed.sum()) == count
        assert (found.weights[found.changed] == 0.5).all()
        torch.testing.assert_close(found.weights[~found.changed], torch.where(truth > 0.5, 0.99, 0.01)[~found.changed])
        hidden, pairs = hidden + count, pairs + len(truth)
    assert 0.026 < hidden / pairs < 0.053


@torch.inference_mode()
def test_told_weights_give_the_truth_away(model, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN001
    """However the documents are shuffled, a classifier that always says yes settles every unsure link rightly."""
    monkeypatch.setattr(Case, "logits", lambda case, weights: torch.full((2, len(weights)), 50.0))
    refiner = model.network.refiner
    initial = copy.copy(refiner)
    initial.config = replace(refiner.config, rounds=0)  # what is unsure stays at 0.5
    items = list(model.preparer.items(random_documents(6, sentences=(4, 7), seed=5)))
    settled = 0
    for one, other in zip(
        with_weights(initial, items, 1), leaked_training.told_weights(refiner, items, 1), strict=True
    ):
        first, second = other.graph.pairs
        forward = np.where(first < second, other.graph.weights, 1 - other.graph.weights)
        unsure = one.graph.weights == 0.5
        assert (forward[unsure] > 0.5).all()
        settled += int(unsure.sum())
    assert settled


def test_neither_the_product_nor_an_experiment_reaches_the_study() -> None:
    code = (
        "import sys\n"
        "import unshuffle_research.experiments.run, unshuffle.training.run\n"
        "assert 'unshuffle_research.experiments.run' in sys.modules\n"
        "assert not [name for name in sys.modules if name.startswith('unshuffle_research.leaks')]"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
