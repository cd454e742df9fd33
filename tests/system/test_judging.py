"""What a judge's answers do to a result, for a model that is reranked and for one that reads them as link weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.fixtures.documents import random_documents, stories
from tests.fixtures.systems import tiny_model
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import collate
from unshuffle.judge.contracts import Trust
from unshuffle.rank.constraints import Constraints
from unshuffle.result import Ordering
from unshuffle.system.config import SystemConfig
from unshuffle.system.orderer import Orderer
from unshuffle.system.rows import load_row
from unshuffle.text.document import Document
from unshuffle.training.config import TrainingConfig
from unshuffle.training.loop import Drawn, draw
from unshuffle.training.ordering import OrderingTask, judged_weights
from unshuffle.training.run import new_fabric
from unshuffle.training.stages import Run, train_stages

DOCUMENTS = random_documents(8, sentences=(3, 6), seed=5)


class Told:
    """Knows the true orders of some documents."""

    trust = Trust(reliability=0.999, model_weight=0.05, sure=1.0)  # a tiny model is sure of much that is wrong

    def __init__(self, documents: Sequence[Document]) -> None:
        self.place = {text: at for document in documents for at, text in enumerate(document.sentences)}
        self.asked = 0

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float]:
        self.asked += len(pairs)
        return [float(self.place[sentences[first]] < self.place[sentences[second]]) for first, second in pairs]


@pytest.fixture(scope="module")
def orderer(tmp_path_factory: pytest.TempPathFactory) -> Orderer:
    return Orderer(tiny_model("se-grn", tmp_path_factory.mktemp("model"), [*DOCUMENTS, *stories()]))


def shuffled(document: Document, seed: int) -> Document:
    return document.permuted(np.random.default_rng(seed).permutation(len(document.sentences)).tolist())


def texts(found: Ordering) -> list[str]:
    return [found.given[at] for at in found.order]


def test_a_judge_that_knows_puts_everything_right_and_says_what_changed(orderer: Orderer) -> None:
    judge = Told(DOCUMENTS)
    given = [shuffled(document, 1) for document in DOCUMENTS]
    alone = list(orderer.order_many(given))
    found = list(orderer.order_many(given, judge=judge, questions=15))
    asked = 0
    for document, before, after in zip(DOCUMENTS, alone, found, strict=True):
        assert tuple(after) == document.sentences
        judged = after.judged
        assert judged is not None and judged.unjudged == before.order and not judged.failed
        places, was = np.argsort(after.order), np.argsort(before.order)
        size = len(places)
        turned = {(a, b) for a in range(size) for b in range(size) if places[a] < places[b] and was[a] > was[b]}
        assert set(judged.turned) == turned
        for question in judged.questions:
            (model,) = [
                one.probability for one in before.pairs if (one.first, one.second) == (question.first, question.second)
            ]
            assert question.model == pytest.approx(model, abs=1e-9)
        assert after.confidence >= 0.5 and after.to_json()["judged"]["unjudged"] == before.order
        asked += len(judged.questions)
    assert asked == judge.asked


def test_without_questions_or_judge_nothing_changes(orderer: Orderer) -> None:
    alone = orderer.order(DOCUMENTS[0])
    assert alone == orderer.order(DOCUMENTS[0], judge=Told(DOCUMENTS), questions=0)
    assert "judged" not in alone.to_json()
    with pytest.raises(ConfigError, match="questions is -1"):
        orderer.order(DOCUMENTS[0], questions=-1)


def test_shuffling_the_input_shuffles_the_judged_order_alike(orderer: Orderer) -> None:
    class Fickle(Told):
        def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float]:
            return [0.5 + 0.4 * np.sin(len(sentences[a]) + 7 * hash_of(sentences[a], sentences[b])) for a, b in pairs]

    def hash_of(one: str, other: str) -> float:
        return sum(map(ord, one)) - 1.7 * sum(map(ord, other))

    for document in DOCUMENTS:
        found = [orderer.order(shuffled(document, seed), judge=Fickle(()), questions=4) for seed in range(3)]
        assert all(texts(one) == texts(found[0]) for one in found)


def test_constraints_hold_against_the_judge(orderer: Orderer) -> None:
    document = DOCUMENTS[0]
    last = len(document.sentences) - 1
    found = orderer.order(document, judge=Told(DOCUMENTS), questions=15, constraints=Constraints(before=((last, 0),)))
    assert found.order.index(last) < found.order.index(0)


def test_a_judge_that_can_take_several_documents_gives_the_same(orderer: Orderer) -> None:
    several = Told(DOCUMENTS)
    several.at_once = 4  # type: ignore[attr-defined]
    one = list(orderer.order_many(DOCUMENTS, judge=Told(DOCUMENTS), questions=3))
    assert one == list(orderer.order_many(DOCUMENTS, judge=several, questions=3))


def test_a_row_that_reads_a_judge_has_no_refiner() -> None:
    options = load_row("irse-grn").system.write()
    with pytest.raises(ConfigError, match="judged: "):
        SystemConfig.read(options | {"judged": True})
    assert load_row("irse-grn-judge").system.judged and "judged" not in load_row("se-grn").system.write()


def test_answers_reach_a_model_that_reads_link_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model("irse-grn-judge", tmp_path, DOCUMENTS)
    orderer, judge, document = Orderer(model), Told(DOCUMENTS), DOCUMENTS[1]
    seen = []
    read = type(model).read
    monkeypatch.setattr(type(model), "read", lambda self, items: seen.extend(items) or read(self, items))
    found = orderer.order(document, judge=judge, questions=2)
    assert seen[0].graph.weights is None and found.judged is not None
    pairs = [tuple(pair) for pair in seen[1].graph.pairs.T.tolist()]
    weights = dict(zip(pairs, seen[1].graph.weights.tolist(), strict=True))
    for question in found.judged.questions:
        assert question.answer is not None
        assert weights[question.first, question.second] == pytest.approx(judge.trust.reliability, abs=1e-5)
    assert sum(weight == 0.5 for weight in weights.values()) >= len(pairs) - 3  # two asked, one may follow


def test_link_weights_at_one_half_are_the_model_without_a_judge(tmp_path: Path) -> None:
    model = tiny_model("irse-grn-judge", tmp_path, DOCUMENTS)
    items = [model.preparer.item(document) for document in DOCUMENTS]
    half = [
        replace(item, graph=replace(item.graph, weights=np.full(item.graph.pairs.shape[1], 0.5, np.float32)))
        for item in items
    ]
    with torch.inference_mode():
        one, other = (model.network.read(collate(some)).states.sentences for some in (items, half))
    torch.testing.assert_close(one, other)


def test_a_training_draws_a_judge_for_each_document_whichever_process_has_it(tmp_path: Path) -> None:
    model = tiny_model("irse-grn-judge", tmp_path, DOCUMENTS)
    items = [model.preparer.item(document) for document in DOCUMENTS]
    whole = draw(items, range(len(items)), 3)

    def weights(drawn: Drawn) -> torch.Tensor:
        return judged_weights(*drawn.collated(torch.device("cpu")), drawn)

    torch.testing.assert_close(torch.cat([weights(whole.share(rank, 3)) for rank in range(3)]), weights(whole))
    batch, gold = whole.collated(torch.device("cpu"))
    loss = OrderingTask(model.network, judged=True)(batch, gold, whole)
    told = model.network(replace(batch, weights=weights(whole)), gold)
    torch.testing.assert_close(loss, told)
    assert not torch.allclose(loss, model.network(batch, gold))


def test_a_row_that_reads_a_judge_is_trained_and_validated(tmp_path: Path) -> None:
    model = tiny_model("irse-grn-judge", tmp_path, DOCUMENTS)
    training = TrainingConfig(batch=8, epochs=1, validation_beam=1)
    run = Run(new_fabric(tmp_path / "log", 1), model.config, training, 1, "data", tmp_path / "stages")
    items = [model.preparer.item(document) for document in DOCUMENTS]
    *_, last = train_stages(run, model.network, items, items)
    assert last.score is not None
