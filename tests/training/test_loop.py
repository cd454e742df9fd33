"""The loop that every stage runs."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from torch import Tensor, nn

pytest.importorskip("lightning_fabric", reason="needs the 'train' extra")
from lightning_fabric import Fabric

from tests.fixtures.documents import random_documents, stories
from tests.fixtures.systems import tiny_config, tiny_model
from unshuffle.decode.contracts import Gold
from unshuffle.graph.batch import Batch
from unshuffle.graph.prepare import Item
from unshuffle.layers.products import Product
from unshuffle.system.orderer import Orderer
from unshuffle.training import loop
from unshuffle.training.checkpoint import Checkpoint
from unshuffle.training.config import TrainingConfig
from unshuffle.training.loop import Drawn, Progress, draw, train
from unshuffle.training.optimizers import Adadelta, build_optimizer, rate
from unshuffle.training.ordering import OrderingStage
from unshuffle.training.run import new_model


class Counter(nn.Module):
    """Its one parameter falls by the learning rate at each step."""

    def __init__(self) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.zeros(1))
        self.seen: list[tuple[str, ...]] = []

    def forward(self, batch: Batch, gold: Gold, drawn: Drawn) -> Tensor:
        self.seen.append(tuple(item.id for item in drawn.items))
        return self.value.sum()


class Scripted:
    """A stage whose validation scores are given."""

    name = "scripted"

    def __init__(self, items: Sequence[Item], scores: Sequence[float]) -> None:
        self.module = Counter()
        self.items = items
        self.scores = iter(scores)
        self.after: list[float] = []

    def score(self) -> float:
        self.after.append(self.module.value.item())
        assert not self.module.training and torch.is_inference_mode_enabled()
        return next(self.scores)


@pytest.fixture(scope="module")
def fabric() -> Fabric:
    fabric = Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    return fabric


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    documents = [*random_documents(9, sentences=(2, 5), seed=1), *random_documents(2, sentences=1, seed=2)]
    documents = [replace(document, id=str(number)) for number, document in enumerate(documents)]
    model = tiny_model("se-grn", tmp_path_factory.mktemp("items"), documents)
    return [model.preparer.item(document) for document in documents]


CONFIG = TrainingConfig(optimizer="adam", learning_rate=0.1, weight_decay=0, batch=4)


def ran(fabric: Fabric, stage: Scripted, folder: Path, **options: float) -> list[Progress]:
    settings = {"epochs": 10, "patience": 3} | options
    return list(train(fabric, stage, CONFIG, seed=1, checkpoint=Checkpoint(folder, "x"), **settings))  # type: ignore[arg-type]


def test_it_stops_after_patience_and_goes_back_to_the_best_epoch(
    fabric: Fabric, items: list[Item], tmp_path: Path
) -> None:
    stage = Scripted(items, [1, 5, 5, 4, 3, 9])
    progress = ran(fabric, stage, tmp_path)
    scores = [step.score for step in progress if step.score is not None]
    assert scores == [1, 5, 5, 4, 3]  # the first 5 is the best; three epochs brought nothing better
    assert stage.module.value.item() == stage.after[1] != stage.after[-1]
    assert progress[-1].best == 5
    again = Scripted(items, [])
    assert ran(fabric, again, tmp_path) == []
    assert again.module.value.item() == stage.after[1]


def test_it_stops_after_the_last_epoch_and_when_its_time_is_up(
    fabric: Fabric, items: list[Item], tmp_path: Path
) -> None:
    stage = Scripted(items, range(100))
    assert len([step for step in ran(fabric, stage, tmp_path / "a", epochs=4) if step.score is not None]) == 4
    boxed = Scripted(items, range(100))
    progress = ran(fabric, boxed, tmp_path / "b", minutes=1e-9)
    assert [step.score for step in progress] == [None, 0]  # one step, and that is scored and kept
    assert boxed.module.value.item() == boxed.after[0] != 0
    assert ran(fabric, Scripted(items, []), tmp_path / "b", minutes=1e-9) == []


def test_the_learning_rate_comes_down_by_the_end_of_the_time_box(
    fabric: Fabric, items: list[Item], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = itertools.count(0, 6)  # every look at the clock is a tenth of a minute after the one before
    monkeypatch.setattr(loop.time, "monotonic", lambda: float(next(seconds)))
    shares: list[float] = []
    monkeypatch.setattr(loop, "rate", lambda config, done, total: shares.append(done / total) or 1.0)
    ran(fabric, Scripted(items, range(100)), tmp_path, epochs=1000, patience=1000, minutes=2)
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] > 0.8


def test_every_epoch_sees_every_document_once_but_those_of_one_sentence(
    fabric: Fabric, items: list[Item], tmp_path: Path
) -> None:
    stage = Scripted(items, range(3))
    progress = ran(fabric, stage, tmp_path, epochs=3)
    seen = stage.module.seen
    assert len(seen) == 9 and progress[0].steps == 3
    epochs = [[name for step in seen[start : start + 3] for name in step] for start in (0, 3, 6)]
    assert all(sorted(epoch) == [str(number) for number in range(9)] for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    same = Scripted(items, range(3))
    ran(fabric, same, tmp_path / "again", epochs=3)
    assert same.module.seen == seen


def test_a_draw_depends_on_its_seed_alone_and_tells_the_true_order(items: list[Item]) -> None:
    one, same, other = (draw(items, [3, 0, 5], seed) for seed in (1, 1, 2))
    assert one.orders == same.orders and one.seed == same.seed != other.seed
    assert any(mine != theirs for mine, theirs in zip(one.orders, other.orders, strict=True))
    for item, order, number in zip(one.items, one.orders, [3, 0, 5], strict=True):
        restored = item.permuted(order)
        assert [words.tolist() for words in restored.words] == [words.tolist() for words in items[number].words]
        np.testing.assert_array_equal(restored.graph.pairs, items[number].graph.pairs)


def test_a_tiny_system_learns_eight_stories_by_heart(fabric: Fabric, tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = tiny_config("se-grn", tmp_path, ["paragraph_encoder.dropout=0"])
    encoder = replace(config.sentence_encoder, width=32, dropout=0.0, word_dropout=0.0)
    model = new_model("heart", replace(config, sentence_encoder=encoder), stories(), 1)
    learnt = [model.preparer.item(document) for document in stories()]
    stage = OrderingStage("ordering", model.network, learnt, learnt, 1, beam=4, measure="pmr")
    settings = TrainingConfig(optimizer="adam", learning_rate=0.01, weight_decay=0, batch=8, checkpoint_minutes=60)
    checkpoint = Checkpoint(tmp_path / "stage", "x")
    progress = list(train(fabric, stage, settings, seed=1, checkpoint=checkpoint, epochs=60, patience=60))
    assert progress[0].loss > 2.5  # log 4! is 3.2
    assert progress[-1].loss < 0.1
    assert [ordering.order for ordering in Orderer(model).order_many(stories())] == [(0, 1, 2, 3)] * 8


@pytest.mark.parametrize("decay", [0.0, 0.01])
def test_adadelta_is_torchs(decay: float, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    monkeypatch.setattr("unshuffle.training.optimizers.CHUNK", 50_000)
    ours, theirs = nn.Linear(300, 301), nn.Linear(300, 301)  # more numbers than a chunk
    theirs.load_state_dict(ours.state_dict())
    mine = Adadelta(ours.parameters(), lr=0.7, rho=0.95, eps=1e-6, weight_decay=decay)
    expected = torch.optim.Adadelta(theirs.parameters(), lr=0.7, rho=0.95, eps=1e-6, weight_decay=decay)
    for _ in range(4):
        given = torch.randn(3, 300)
        for module, optimizer in ((ours, mine), (theirs, expected)):
            optimizer.zero_grad()
            module(given).square().mean().backward()
            optimizer.step()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_the_rate_rises_and_then_falls_to_nothing() -> None:
    warm = replace(CONFIG, warmup=0.2)
    rates = [rate(warm, step, 10) for step in range(10)]
    assert rates[:3] == [0.5, 1.0, 1.0] and rates == sorted(rates[:2]) + sorted(rates[2:], reverse=True)
    assert rates[-1] == pytest.approx(1 / 8) and rate(warm, 10, 10) == 0
    assert {rate(CONFIG, step, 10) for step in range(10)} == {1.0}


@pytest.mark.parametrize("kind", ["adadelta", "adam", "adamw"])
def test_weights_laid_out_for_validation_follow_every_step(kind: Literal["adadelta", "adam", "adamw"]) -> None:
    weight = nn.Parameter(torch.randn(512, 512, generator=torch.Generator().manual_seed(1)))
    layer, product, rows = nn.ParameterList([weight]), Product(), torch.ones(3, 512)
    optimizer = build_optimizer(layer, TrainingConfig(optimizer=kind, learning_rate=0.1))
    for _ in range(2):
        with torch.no_grad():
            torch.testing.assert_close(product(rows, weight), rows @ weight.T, atol=1e-4, rtol=1e-4)
        weight.grad = torch.ones_like(weight)
        optimizer.step()
    with torch.no_grad():
        torch.testing.assert_close(product(rows, weight), rows @ weight.T, atol=1e-4, rtol=1e-4)
