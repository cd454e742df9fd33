"""Stages: which documents each classifier sees, and what weights the ordering model is trained on."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")

from tests.fixtures.documents import random_documents
from tests.fixtures.systems import tiny_model
from unshuffle.decode.contracts import Gold
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import collate
from unshuffle.graph.prepare import Item
from unshuffle.refine.iterative import Refiner
from unshuffle.system.folder import Model
from unshuffle.training import stages
from unshuffle.training.classifiers import IterativeTask, both_ways, pair_truth, rightly, shuffled_batches, with_weights
from unshuffle.training.config import TrainingConfig
from unshuffle.training.loop import Drawn, Progress
from unshuffle.training.ordering import OrderingStage
from unshuffle.training.run import new_fabric
from unshuffle.training.stages import Run, train_stages

CPU = torch.device("cpu")
TRAIN = random_documents(11, sentences=(2, 5), seed=61)
VALID = random_documents(4, sentences=4, seed=62)


class Watch:
    """Which documents each classifier was trained on, and which it gave weights to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: dict[int, set[str]] = {}
        self.alive: list[object] = []  # so that no two have the same number
        self.given: list[tuple[set[str], set[str]]] = []
        self.trained: list[tuple[str, list[Item]]] = []
        train, weigh = stages.train, stages.with_weights

        def watched_train(fabric: Any, stage: Any, *arguments: Any, **options: Any) -> Iterator[Progress]:
            classifier = getattr(stage.module, "classifier", stage.module)
            self.alive.append(classifier)
            self.seen.setdefault(id(classifier), set()).update(item.id for item in stage.items)
            self.trained.append((stage.name, list(stage.items)))
            return train(fabric, stage, *arguments, **options)

        def watched_weigh(refiner: Refiner, items: Sequence[Item], seed: int) -> list[Item]:
            known = self.seen.get(id(refiner.initial), set()) | self.seen.get(id(refiner.iterative), set())
            self.given.append(({item.id for item in items}, known))
            return weigh(refiner, items, seed)

        monkeypatch.setattr(stages, "train", watched_train)
        monkeypatch.setattr(stages, "with_weights", watched_weigh)


def run_stages(tmp_path: Path, folds: int, watch: Watch) -> None:
    model = tiny_model("irse-grn", tmp_path, TRAIN)
    training = TrainingConfig(batch=8, epochs=1, classifier_epochs=1, folds=folds, validation_beam=1)
    run = Run(new_fabric(tmp_path / "log", 1), model.config, training, 1, "data", tmp_path / "stages")
    items, valid = ([model.preparer.item(document) for document in part] for part in (TRAIN, VALID))
    list(train_stages(run, model.network, items, valid))


@pytest.mark.parametrize("folds", [2, 3])
def test_weights_of_a_training_document_come_from_classifiers_that_never_saw_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folds: int
) -> None:
    watch = Watch(monkeypatch)
    run_stages(tmp_path, folds, watch)
    train, valid = {document.id for document in TRAIN}, {document.id for document in VALID}
    *fitted, last = watch.given
    assert len(fitted) == folds
    for asked, known in fitted:
        assert known and asked and not asked & known
        assert asked | known == train
    assert set().union(*(asked for asked, _ in fitted)) == train
    assert last[0] == valid and last[1] == train
    names = [name for name, _ in watch.trained]
    assert names == [
        *(f"{kind}-{fold}of{folds}" for fold in range(folds) for kind in ("initial", "iterative")),
        "initial-all",
        "iterative-all",
        "ordering",
    ]
    for name, items in watch.trained:
        has = [item.graph.weights is not None for item in items]
        assert all(has) if name == "ordering" else not any(has)
        assert [item.id for item in items] == sorted((item.id for item in items), key=[d.id for d in TRAIN].index)


def test_one_fold_trusts_the_classifier_on_what_it_has_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(monkeypatch)
    run_stages(tmp_path, 1, watch)
    assert watch.given[0][0] == watch.given[0][1] == {document.id for document in TRAIN}


def test_weights_are_given_back_in_the_documents_own_orientation(tmp_path: Path) -> None:
    """The refiner sees a shuffle; what comes back must fit the document as it was handed in."""
    model = tiny_model("irse-grn", tmp_path, TRAIN)
    refiner = model.network.refiner
    assert refiner is not None
    items = [model.preparer.item(document) for document in TRAIN]
    for seed in (1, 2):
        fitted = with_weights(refiner, items, seed)
        assert [item.id for item in fitted] == [item.id for item in items]
        for item, weighted in zip(items, fitted, strict=True):
            np.testing.assert_array_equal(weighted.graph.pairs, item.graph.pairs)
            np.testing.assert_array_equal(weighted.graph.mentions, item.graph.mentions)
            assert [words.tolist() for words in weighted.words] == [words.tolist() for words in item.words]
            with torch.inference_mode():
                straight = refiner(collate([item])).weights
            np.testing.assert_allclose(np.asarray(weighted.graph.weights), straight.numpy(), atol=1e-3)


def test_the_truth_of_a_pair_is_which_of_its_sentences_comes_first(tmp_path: Path) -> None:
    model = tiny_model("irse-grn", tmp_path, TRAIN)
    for drawn in shuffled_batches([model.preparer.item(document) for document in TRAIN], seed=3, size=4):
        batch = collate(drawn.items)
        truth = pair_truth(batch, Gold.of([list(order) for order in drawn.orders])).tolist()
        expected = []
        for item, order in zip(drawn.items, drawn.orders, strict=True):
            expected += [float(order.index(i) < order.index(j)) for i, j in item.graph.pairs.T.tolist()]
        assert truth == expected


def test_both_directions_are_learnt_and_no_pair_is_no_trouble() -> None:
    logits = torch.tensor([[2.0, -1.0], [0.5, 3.0]], requires_grad=True)
    truth = torch.tensor([1.0, 0.0])
    p = logits.sigmoid()
    expected = -(p[0, 0].log() + (1 - p[0, 1]).log() + (1 - p[1, 0]).log() + p[1, 1].log()) / 4
    torch.testing.assert_close(both_ways(logits, truth), expected)
    nothing = both_ways(logits, truth, torch.tensor([False, False]))
    nothing.backward()
    assert nothing.item() == 0 and not logits.grad.any()  # type: ignore[union-attr]


def test_a_tie_is_half_right() -> None:
    assert rightly(torch.tensor([0.5, 0.9, 0.1, 0.6]), torch.tensor([1.0, 1.0, 1.0, 0.0])) == 1.5


def drawn_batches(model: Model) -> list[Drawn]:
    return shuffled_batches([model.preparer.item(document) for document in TRAIN], seed=3)


def test_the_iterative_classifier_may_learn_from_what_the_initial_classifier_leaves_open(tmp_path: Path) -> None:
    model = tiny_model("irse-grn", tmp_path, TRAIN, changes=["refiner.learns_from=predictions"])
    refiner = model.network.refiner
    assert refiner is not None and refiner.initial is not None and refiner.iterative is not None
    task = IterativeTask(refiner, noise_share=0.2)
    trained = {id(parameter) for parameter in task.parameters()}
    assert trained == {id(parameter) for parameter in refiner.iterative.parameters()}
    task.eval()
    for drawn in drawn_batches(model):
        batch = collate(drawn.items)
        truth = pair_truth(batch, Gold.of([list(order) for order in drawn.orders]))
        first = refiner(batch).rounds[0]  # what Algorithm 1 begins with
        logits = refiner.iterative(refiner.iterative.encode(batch, None), batch.graph, first.weights)
        expected = both_ways(logits, truth, first.undecided) + both_ways(logits, truth, ~first.undecided)
        torch.testing.assert_close(task(*drawn.collated(CPU), drawn), expected)


def test_a_classifier_taught_so_begins_as_a_copy_of_the_initial_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: dict[str, bool] = {}

    def looked_at(fabric: Any, stage: Any, *arguments: Any, **options: Any) -> Iterator[Progress]:
        if stage.name.startswith("iterative"):
            refiner = stage._refiner
            same = zip(refiner.initial.parameters(), refiner.iterative.parameters(), strict=True)
            begun[source] = all(torch.equal(one, other) for one, other in same)
        return iter(())

    monkeypatch.setattr(stages, "train", looked_at)
    for source in ("noise", "predictions"):
        model = tiny_model("irse-grn", tmp_path, TRAIN, changes=[f"refiner.learns_from={source}"])
        training = TrainingConfig(batch=8, epochs=1, classifier_epochs=1, folds=1, validation_beam=1)
        run = Run(new_fabric(tmp_path / "log", 1), model.config, training, 1, "data", tmp_path / source)
        items = [model.preparer.item(document) for document in TRAIN]
        list(train_stages(run, model.network, items, items))
    assert begun == {"noise": False, "predictions": True}


def test_trained_together_both_learn_from_the_same_words(tmp_path: Path) -> None:
    changes = ["refiner.encoder=shared", "refiner.learns_from=predictions"]
    model = tiny_model("irse-grn", tmp_path, TRAIN, changes=changes)
    refiner = model.network.refiner
    assert refiner is not None and refiner.iterative is not None
    stage = OrderingStage("ordering", model.network, [], [], 1, beam=1, measure="tau", joint=True)
    stage.module.train()
    drawn = drawn_batches(model)[-1]
    stage.module(*drawn.collated(CPU), drawn).backward()
    gradients = [parameter.grad for parameter in refiner.iterative.head.parameters()]
    assert all(gradient is not None and gradient.abs().sum() > 0 for gradient in gradients)


@pytest.mark.parametrize("missing", ["refiner.initial=false", "refiner.rounds=0"])
def test_learning_from_predictions_needs_both_classifiers(tmp_path: Path, missing: str) -> None:
    with pytest.raises(ConfigError, match="need both classifiers"):
        tiny_model("irse-grn", tmp_path, TRAIN, changes=["refiner.learns_from=predictions", missing])


def test_the_ordering_model_has_its_minutes_whatever_classifiers_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, float] = {}

    def no_train(fabric: Any, stage: Any, *arguments: Any, minutes: float, **options: Any) -> Iterator[Progress]:
        given[stage.name] = minutes
        return iter(())

    monkeypatch.setattr(stages, "train", no_train)
    model = tiny_model("irse-grn", tmp_path, TRAIN)
    items, valid = ([model.preparer.item(document) for document in part] for part in (TRAIN, VALID))
    for box in (0.0, 30.0):
        training = TrainingConfig(batch=8, minutes=box, classifier_minutes=5.0 if box else 0.0, folds=2)
        run = Run(new_fabric(tmp_path / "log", 1), model.config, training, 1, "data", tmp_path / "stages")
        list(train_stages(run, model.network, items, valid))
        ordering = given.pop("ordering")
        whole = {name: minutes for name, minutes in given.items() if name.endswith("all")}
        assert len(given) == 6 and set(whole.values()) == {5.0 if box else 0.0}
        for kind in ("initial", "iterative"):  # each fold has its share of the documents, and of the minutes
            folds = [given[f"{kind}-{fold}of2"] for fold in range(2)]
            assert sum(folds) == pytest.approx(whole[f"{kind}-all"]) and min(folds) >= 0.4 * max(folds)
        assert ordering == box
