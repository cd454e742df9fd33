"""The service over a real `Orderer`, tiny and untrained: what it answers has the promised shape."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from tests.fixtures.documents import stories
from tests.fixtures.systems import tiny_model
from unshuffle.exercises.make import make_exercise
from unshuffle.serve import schemas
from unshuffle.serve.app import make_app
from unshuffle.system.orderer import Orderer

STORY = list(stories()[0].sentences)


@pytest.fixture(scope="module", params=["irse-grn", "se-grn", "l-tsort"])
def orderer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Orderer:
    folder: Path = tmp_path_factory.mktemp("model")
    return Orderer(tiny_model(request.param, folder, stories()))


@pytest.fixture(scope="module")
def client(orderer: Orderer) -> Iterator[TestClient]:
    with TestClient(make_app(orderer), base_url="http://localhost") as client:
        yield client


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("order", schemas.OrderAnswer),
        ("score", schemas.ScoreAnswer),
        ("graph", schemas.GraphAnswer),
        ("exercise", schemas.ExerciseAnswer),
    ],
)
def test_answers_have_the_shape_that_is_promised(client: TestClient, path: str, shape: type[BaseModel]) -> None:
    answer = client.post(f"/v1/{path}", json={"sentences": STORY})
    assert answer.status_code == 200
    assert set(answer.json()) <= set(shape.model_validate_json(answer.content).model_dump())


def test_the_service_answers_as_the_library_does(client: TestClient, orderer: Orderer) -> None:
    answer = client.post("/v1/order", json={"sentences": STORY, "beam": 3, "n_best": 2}).json()
    found = orderer.order(STORY, beam=3, n_best=2)
    assert answer["order"] == list(found.order)
    assert answer["confidence"] == pytest.approx(found.confidence, abs=1e-5)
    score = client.post("/v1/score", json={"sentences": STORY}).json()
    assert score["log_probability"] == pytest.approx(orderer.coherence(STORY).log_probability, abs=1e-5)


@pytest.mark.parametrize("size", [1, 2])
def test_the_smallest_documents_are_answered(client: TestClient, size: int) -> None:
    for path in ("order", "score", "graph"):
        assert client.post(f"/v1/{path}", json={"sentences": STORY[:size]}).status_code == 200


def test_models_are_described_without_a_folder(client: TestClient, tmp_path: Path) -> None:
    assert str(tmp_path.parent) not in client.get("/v1/models").json()["models"][0]["name"]


def test_an_exercise_can_be_made_with_any_system(orderer: Orderer) -> None:
    exercise = make_exercise(orderer, STORY, seed=1)
    assert exercise.paragraph == tuple(STORY)
    assert 0 <= exercise.margin <= 1


@pytest.mark.parametrize(
    ("known", "kept"),
    [
        ({"before": [[2, 0]]}, lambda place: place[2] < place[0]),
        ({"before": [[0, 2]]}, lambda place: place[0] < place[2]),
        ({"fixed": [[0, 1]]}, lambda place: place[1] == 0),
        ({"fixed": [[0, 2]]}, lambda place: place[2] == 0),
        ({"sources": ["a", None, "a", "a"]}, lambda place: place[0] < place[2] < place[3]),
    ],
)
def test_what_is_known_beforehand_holds(
    client: TestClient, known: dict[str, Any], kept: Callable[[list[int]], bool]
) -> None:
    answer = client.post("/v1/order", json={"sentences": STORY, **known})
    assert answer.status_code == 200
    order = answer.json()["order"]
    assert kept([order.index(sentence) for sentence in range(len(STORY))])


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"before": [[0, 1], [1, 0]]}, "cycle"),
        ({"before": [[0, 9]]}, "out of range"),
        ({"before": [[0, 1, 2]]}, "before[0]"),
        ({"before": "0,1"}, "before"),
        ({"fixed": [[0, 1], [0, 2]]}, "Drop one"),
        ({"sources": ["a"]}, "1 given for a document of 4 sentences"),
    ],
)
def test_what_no_order_can_meet_is_refused(client: TestClient, known: dict[str, Any], said: str) -> None:
    answer = client.post("/v1/order", json={"sentences": STORY, **known})
    assert answer.status_code == 422 and said in answer.json()["error"]
