"""What is too large, too deep or not JSON is refused in one line, before the model sees it."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tests.serve.fake import FakeOrderer
from unshuffle.errors import ConfigError
from unshuffle.serve.app import make_app
from unshuffle.serve.settings import Batching, Limits, Settings

JSON = {"content-type": "application/json"}
LIMITS = Limits(bytes=20_000, sentences=5, words=6, characters=60, documents=3)


@pytest.fixture
def client(model: FakeOrderer) -> Iterator[TestClient]:
    with TestClient(make_app(model, Settings(limits=LIMITS)), base_url="http://localhost") as client:
        yield client


@pytest.mark.parametrize(
    ("path", "asked", "place"),
    [
        ("order", {}, "sentences"),
        ("order", {"sentences": ["a"], "text": "a"}, "sentences"),
        ("order", {"sentences": []}, "sentences"),
        ("order", {"text": " \n "}, "text"),
        ("order", {"sentences": ["a", " \t"]}, "sentences[1]"),
        ("order", {"sentences": ["a", 3]}, "sentences[1]"),
        ("order", {"sentences": "a"}, "sentences"),
        ("order", {"sentences": ["a"] * 6}, "sentences"),
        ("order", {"sentences": ["a b c d e f g"]}, "sentences[0]"),
        ("order", {"sentences": ["a" * 61]}, "sentences[0]"),
        ("order", {"sentences": ["a"], "beam": 0}, "beam"),
        ("order", {"sentences": ["a"], "n_best": 1000}, "n_best"),
        ("order", {"sentences": ["a"], "n_best": 3, "beam": 2}, "order"),
        ("order/batch", {"documents": [{"text": "a"}], "n_best": 3, "beam": 2}, "order"),
        ("order", {"sentences": ["a"], "model": "other"}, "model"),
        ("order", {"sentences": ["a"], "path": "/etc/passwd"}, "path"),
        ("order", [], "body"),
        ("order/batch", {"documents": []}, "documents"),
        ("order/batch", {"documents": [{"text": "a"}] * 4}, "documents"),
        ("order/batch", {"documents": [{"text": "a"}, {"sentences": [""]}]}, "documents[1].sentences[0]"),
        ("score", {"sentences": ["a"] * 6}, "sentences"),
        ("exercise", {"sentences": ["a", "b"]}, "exercise"),
    ],
)
def test_what_cannot_be_ordered_is_named(client: TestClient, path: str, asked: object, place: str) -> None:
    answer = client.post(f"/v1/{path}", json=asked)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error.startswith(f"{place}:")
    assert "\n" not in error


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 10_000,
        b'{"sentences":' + b"[" * 9_000 + b"]" * 9_000 + b"}",
        b'{"a":' * 3_000 + b"1" + b"}" * 3_000,
        b'{"sentences": ["\\ud800"]}',
        b'{"sentences": ["a"], "beam": ' + b"9" * 5_000 + b"}",
        b'{"sentences": ["a"], "keep_if_unsure": NaN}',
    ],
)
def test_strange_json_is_refused(client: TestClient, body: bytes) -> None:
    answer = client.post("/v1/order", content=body, headers=JSON)
    assert answer.status_code == 422
    assert len(answer.json()["error"]) < 200


def test_a_large_body_is_refused_by_its_announced_length(client: TestClient) -> None:
    answer = client.post("/v1/order", content=b"x" * 20_001, headers=JSON)
    assert answer.status_code == 413
    assert answer.json()["error"] == "body: it is too large. Send at most 20000 bytes."


def test_a_large_body_without_announced_length_is_stopped_on_its_way(client: TestClient) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(10_000):
            sent += 1
            yield b" " * 1_000

    assert client.post("/v1/order", content=endless(), headers=JSON).status_code == 413


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_only_json_is_read(client: TestClient, kind: str) -> None:
    answer = client.post("/v1/order", content=b'{"sentences":["a"]}', headers={"content-type": kind})
    assert answer.status_code == 415


def test_the_model_saw_nothing_of_all_this(client: TestClient, model: FakeOrderer) -> None:
    client.post("/v1/order", json={"sentences": ["a"] * 6})
    client.post("/v1/order", content=b"x" * 30_000, headers=JSON)
    assert model.batches == []


def test_limits_that_let_nothing_through_are_refused() -> None:
    with pytest.raises(ConfigError, match="sentences"):
        Limits(sentences=0)
    with pytest.raises(ConfigError, match="never fit"):
        Settings(limits=Limits(documents=10), batching=Batching(waiting=9))
