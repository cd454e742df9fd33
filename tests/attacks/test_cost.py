"""A request that would take the service away is refused before the model sees any of it."""

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.serve.fake import FakeOrderer
from unshuffle.exercises.make import make_exercise, paragraphs_tried
from unshuffle.result import Candidate, Ordering
from unshuffle.serve.cost import exercise_cost, order_cost, score_cost
from unshuffle.serve.settings import Limits
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.text.readers import read_documents


def text(sentences: int, words: int) -> list[str]:
    return [f"Number {number} " + "word " * (words - 2) for number in range(sentences)]


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("exercise", {"sentences": text(60, 40), "mend": True, "margin": 1.0}),
        ("exercise", {"sentences": text(60, 20), "mend": True, "margin": 1.0}),
        ("exercise", {"sentences": text(60, 20), "margin": 1.0}),
        ("exercise", {"text": ". ".join(text(60, 20)), "mend": True}),
        ("order/batch", {"documents": [{"sentences": text(60, 35)}] * 60, "beam": 64}),
        ("order/batch", {"documents": [{"sentences": text(50, 40)}] * 64}),
        ("order/batch", {"documents": [{"sentences": text(60, 3)}] * 64, "beam": 64}),
        ("order/batch", {"documents": [{"sentences": text(3, 3)}, {"sentences": text(60, 90)}]}),
        ("order", {"sentences": text(60, 250)}),
        ("order", {"sentences": text(60, 80), "beam": 64}),
        ("order", {"sentences": ["a.b,c;d:" * 500] * 60}),
        ("score", {"sentences": ["漢.字," * 1000] * 60}),
        ("order/batch", {"documents": [{"sentences": ["a.b,c;d:" * 500] * 9}] * 20}),
        ("score", {"sentences": text(60, 250)}),
        ("graph", {"sentences": text(60, 250)}),
    ],
)
def test_too_much_work_is_refused_in_one_line(client: TestClient, model: FakeOrderer, path: str, asked: Any) -> None:
    answer = client.post(f"/v1/{path}", json=asked)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert "costs about" in error and "the limit is" in error and "Send fewer" in error
    assert "\n" not in error
    assert model.batches == []


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("order", {"sentences": text(40, 25)}),
        ("order", {"sentences": text(60, 25), "beam": 64}),
        ("order", {"sentences": text(60, 40)}),
        ("order/batch", {"documents": [{"sentences": text(8, 30)}] * 100}),
        ("score", {"sentences": text(60, 25)}),
        ("graph", {"sentences": text(60, 25)}),
        ("order/batch", {"documents": [{"sentences": text(10, 15)}] * 64}),
        ("exercise", {"sentences": text(12, 12), "mend": True}),
        ("exercise", {"sentences": text(25, 15)}),
    ],
)
def test_what_people_send_is_answered(client: TestClient, path: str, asked: Any) -> None:
    assert client.post(f"/v1/{path}", json=asked).status_code == 200


class NeverSure:
    """Finds another order than the right one, whatever it is given; remembers the size of each document."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def order_many(self, documents: Iterable[Document | Sequence[str]]) -> Iterator[Ordering]:
        for document in documents:
            size = len(tuple(document))  # type: ignore[arg-type]
            self.sizes.append(size)
            order = tuple(range(size))
            yield Ordering("", order, 0.5, 0.5, (), (), (Candidate(order, 0.5),))


@pytest.mark.parametrize("mend", [False, True])
def test_the_number_of_orders_behind_an_exercise_is_known_beforehand(mend: bool) -> None:
    model = NeverSure()
    make_exercise(model, text(9, 4), margin=1.0, mend=mend)
    tried = [size for size, paragraphs in paragraphs_tried(9, mend=mend) for _ in range(paragraphs)]
    assert sorted(model.sizes) == sorted(tried)


def test_cost_grows_with_everything_that_makes_work() -> None:
    few, many = [10] * 10, [10] * 20
    assert order_cost(few, 1) < order_cost(few, 20) < order_cost(few, 64) < order_cost(many, 64)
    assert order_cost(few) < order_cost([20] * 10)
    assert score_cost(few) < score_cost(many)
    assert exercise_cost(few, mend=False) < exercise_cost(few, mend=True) < exercise_cost(many, mend=True)


@pytest.mark.parametrize(
    "sentence",
    [
        "a.b,c;d:" * 500,
        "漢字" * 2_000,
        "xqzjwvkpqxzjwvkq " * 12,
        "x" * 4_000,
        "\U0001f600" * 4_000,
        "'" * 4_000,
        "Hello.",
    ],
)
def test_cost_counts_what_the_model_reads_and_not_what_stands_between_blanks(sentence: str) -> None:
    orderer = Orderer.from_pretrained(threads=1)
    (document,) = orderer.parser.mentions([Document((sentence, "Then it ended."))])
    read = [len(words) for words in orderer.model.preparer.item(document).words]
    assert orderer.pieces(document.sentences) == read
    assert order_cost(orderer.pieces(document.sentences)) >= sum(read)


def test_what_ordinary_people_send_is_within_the_limits_of_the_shipped_model() -> None:
    orderer, limits = Orderer.from_pretrained(threads=1), Limits()
    words = " ".join(" ".join(document.sentences) for document in read_documents("everyday:valid")).split()

    def written(sentences: int, length: int) -> list[int]:
        draw = random.Random(sentences)
        return orderer.pieces([" ".join(draw.choices(words, k=length)) for _ in range(sentences)])

    assert order_cost(written(60, 40), 64) < limits.document_cost
    assert 100 * order_cost(written(10, 28)) < limits.cost and limits.documents >= 100
    assert exercise_cost(written(15, 20), mend=True) < limits.cost


def test_limits_can_be_raised_and_are_told(client: TestClient) -> None:
    told = client.get("/v1/models").json()["limits"]
    assert (told["cost"], told["document_cost"]) == (Limits().cost, Limits().document_cost)
