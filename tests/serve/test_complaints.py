"""What is wrong with a request is told in one line: where, what, what to do, and never in the words of a library."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from unshuffle.serve.complaints import WANTED
from unshuffle.serve.requests import BatchDocument, BatchRequest, ExerciseRequest, OrderRequest, Sentences

JSON = {"content-type": "application/json"}
TWO = ["One is 1.", "Two is 2."]
OBJECT = 'Send an object such as {"sentences": ["One.", "Two."]}.'
PAIR = "Give a pair of sentences such as [0, 3]."
FRACTION = "Give a number from 0 to 1, or 'auto'."


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", f"body: it is empty. {OBJECT}"),
        (b"null", f"body: it is null. {OBJECT}"),
        (b"[]", f"body: it is a list. {OBJECT}"),
        (b'"abc"', f"body: it is text. {OBJECT}"),
        (b"{", f"body: it is not JSON at line 1 column 1. {OBJECT}"),
        ('{"sentences": ["Un café."]}'.encode("latin-1"), "body: it is not UTF-8. Encode it as UTF-8."),
    ],
)
def test_a_body_that_is_no_object_is_told_what_to_send(client: TestClient, body: bytes, error: str) -> None:
    answer = client.post("/v1/order", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (422, error)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"sentences": "a. b."}, "sentences: it is text. Give a list of sentences, or running text as 'text'."),
        ({"text": TWO}, "text: it is a list. Give running text, or a list of sentences as 'sentences'."),
        ({"sentences": ["a", 3]}, "sentences[1]: it is a number. Give text."),
        ({}, "sentences: they are missing. Give 'sentences', a list, or 'text'."),
        ({"sentences": TWO, "text": "a"}, "sentences: they came together with 'text'. Give one of the two."),
        ({"sentences": ["a"] * 10_001}, "sentences: it has too many entries. Give at most 10000."),
        ({"sentences": TWO, "keep_if_unsure": "autoo"}, f"keep_if_unsure: it is an unknown word. {FRACTION}"),
        ({"sentences": TWO, "keep_if_unsure": 2}, f"keep_if_unsure: it is too large. {FRACTION}"),
        ({"sentences": TWO, "keep_if_unsure": True}, f"keep_if_unsure: it is true or false. {FRACTION}"),
        ({"sentences": TWO, "beam": 1.5}, "beam: it is a decimal number. Give a whole number from 1 to 64."),
        ({"sentences": TWO, "beam": 0}, "beam: it is too small. Give a whole number from 1 to 64."),
        ({"sentences": TWO, "n_best": 21}, "n_best: it is too large. Give a whole number from 1 to 20."),
        ({"sentences": TWO, "split": "words"}, "split: it is an unknown word. Give 'sentences' or 'lines'."),
        ({"sentences": TWO, "split": 3}, "split: it is a number. Give 'sentences' or 'lines'."),
        ({"sentences": TWO, "id": "x" * 201}, "id: it is too long. Give text of at most 200 characters."),
        ({"sentences": TWO, "model": 3}, "model: it is a number. Give a name that GET /v1/models lists."),
        ({"text": "A", "before": [[0]]}, f"before[0]: it has too few entries. {PAIR}"),
        ({"before": [["", 0]]}, "before[0][0]: it is text. Give the number of a sentence, counted from 0."),
        ({"sentences": TWO, "sources": ["a", []]}, "sources[1]: it is a list. Give text, a whole number or null."),
    ],
)  # fmt: skip
def test_a_wrong_field_is_told_what_it_takes(client: TestClient, asked: dict[str, Any], error: str) -> None:
    answer = client.post("/v1/order", json=asked)
    assert (answer.status_code, answer.json()["error"]) == (422, error)


@pytest.mark.parametrize(
    ("asked", "start"),
    [
        ({"before": [[0, 1], [0, 5]]}, "before[1]: it is out of range. Give numbers from 0 to 1."),
        ({"fixed": [[-1, 0]]}, "fixed[0]: it is out of range. Give numbers from 0 to 1."),
        ({"before": [[0, 1], [1, 0]]}, "before: "),
        ({"fixed": [[0, 1], [0, 0]]}, "fixed: "),
        ({"before": [[1, 0]], "sources": ["a", "a"]}, "before and sources: "),
        ({"sources": ["a"]}, "sources: "),
    ],
)
def test_an_order_that_cannot_be_is_blamed_on_fields_of_the_request(
    client: TestClient, asked: dict[str, Any], start: str
) -> None:
    answer = client.post("/v1/order", json={"sentences": TWO, **asked})
    assert answer.status_code == 422 and answer.json()["error"].startswith(start)


@pytest.mark.parametrize(
    ("path", "asked", "start"),
    [
        ("order/batch", {}, "documents: it is missing. Give a list such as "),
        ("order/batch", {"documents": [3]}, "documents[0]: it is a number. Give an object such as "),
        ("order/batch", {"documents": [{"sentences": "a"}]}, "documents[0].sentences: it is text. Give a list"),
        ("order/batch", [], 'body: it is a list. Send an object such as {"documents": '),
        ("exercise", {"seed": -1}, "seed: it is too small. Give a whole number from 0 to 2147483648."),
        ("exercise", {"margin": "x"}, "margin: it is text. Give a number from 0 to 1."),
        ("exercise", {"mend": 1}, "mend: it is a number. Give true or false."),
        ("score", {"x" * 5_000: 1}, f"{'x' * 60}: there is no such field. "),
    ],
)
def test_every_address_speaks_like_that(client: TestClient, path: str, asked: object, start: str) -> None:
    assert client.post(f"/v1/{path}", json=asked).json()["error"].startswith(start)


def test_every_field_of_every_request_has_its_advice() -> None:
    for shape in (Sentences, OrderRequest, BatchRequest, BatchDocument, ExerciseRequest):
        assert set(shape.model_fields) <= set(WANTED)


@pytest.mark.parametrize(("charset", "status"), [("latin-1", 415), ("utf-16", 415), ("UTF-8", 200), ('"utf-8"', 200)])
def test_another_charset_is_not_ignored(client: TestClient, charset: str, status: int) -> None:
    headers = {"content-type": f"application/json; charset={charset}"}
    answer = client.post("/v1/order", content=b'{"sentences": ["a", "b"]}', headers=headers)
    assert answer.status_code == status
    if status == 415:
        assert answer.json()["error"] == "content-type: its charset is not UTF-8. Encode the body as UTF-8."


def test_the_models_own_threshold_can_be_asked_for(client: TestClient) -> None:
    asked = {"sentences": TWO, "keep_if_unsure": "auto"}
    assert client.post("/v1/order", json=asked).status_code == 200
    batch = {"documents": [{"sentences": TWO}], "keep_if_unsure": "auto"}
    assert client.post("/v1/order/batch", json=batch).status_code == 200
