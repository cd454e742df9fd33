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
from unshuffle.judge.refinement import Refinement
from unshuffle.rank.constraints import Constraints
from unshuffle.result import Ordering, Spend
from unshuffle.system.config import SystemConfig
from unshuffle.system.judging import reranked
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


def test_what_is_left_as_it_was_is_not_turned(orderer: Orderer) -> None:
    document = shuffled(DOCUMENTS[0], 1)
    found = orderer.order(document, judge=Told(DOCUMENTS), keep_if_unsure=1.0)
    assert found.kept and found.judged is not None and found.judged.questions and not found.judged.turned


def test_without_questions_or_judge_nothing_changes(orderer: Orderer) -> None:
    alone = orderer.order(DOCUMENTS[0])
    assert alone == orderer.order(DOCUMENTS[0], judge=Told(DOCUMENTS), questions=0)
    assert "judged" not in alone.to_json()
    with pytest.raises(ConfigError, match="questions is -1"):
        orderer.order(DOCUMENTS[0], questions=-1)


class Even(Told):
    """Has no opinion."""

    trust = Trust(reliability=0.9, model_weight=0.5, sure=1.0)

    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float]:
        self.asked += len(pairs)
        return [0.5] * len(pairs)


def test_a_judge_that_says_nothing_leaves_the_model_s_own_result(orderer: Orderer) -> None:
    judge = Even(DOCUMENTS)
    found = list(orderer.order_many(DOCUMENTS, judge=judge))
    assert judge.asked
    for alone, one in zip(orderer.order_many(DOCUMENTS), found, strict=True):
        assert one.judged is not None and not one.judged.turned and one.judged.questions
        assert replace(one, judged=None) == alone


def test_what_ranking_by_pairs_turns_is_not_put_down_to_the_answers(orderer: Orderer) -> None:
    size = len(DOCUMENTS[0].sentences)
    own = tuple(range(size))
    chance = np.full((size, size), 0.5) + 0.3 * (np.triu(np.ones((size, size)), 1) - np.tril(np.ones((size, size)), -1))
    chance[0, 1], chance[1, 0] = 0.4, 0.6  # the pairs want 1 before 0, the model's own order has 0 first
    said = np.full((size, size), 0.5)
    said[size - 2, size - 1], said[size - 1, size - 2] = 0.1, 0.9
    refinement = Refinement(
        order=(1, 0, *own[2:-2], size - 1, size - 2),
        unanswered=(1, 0, *own[2:]),
        copies=np.arange(size),
        chance=chance,
        answered=said,
        questions=(),
        spend=Spend(),
        failed="",
    )
    found = reranked(replace(orderer.order(DOCUMENTS[0]), order=own), refinement).judged
    assert size >= 4 and found is not None and found.turned == ((size - 1, size - 2),)
    said[1, 0], said[0, 1] = 0.9, 0.1  # where the judge says so itself, it is its doing
    found = reranked(replace(orderer.order(DOCUMENTS[0]), order=own), refinement).judged
    assert found is not None and found.turned == ((1, 0), (size - 1, size - 2))


def test_equal_sentences_that_change_places_are_not_turned(orderer: Orderer) -> None:
    sentences = [*DOCUMENTS[0].sentences[:2], *DOCUMENTS[0].sentences[:2], DOCUMENTS[0].sentences[2]]
    found = orderer.order(sentences, judge=Told(DOCUMENTS), questions=9)
    assert found.judged is not None
    places, was = np.argsort(found.order), np.argsort(found.judged.unjudged)
    assert found.judged.unjudged == orderer.order(sentences).order
    assert all(places[one] < places[other] and was[one] > was[other] for one, other in found.judged.turned)


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
