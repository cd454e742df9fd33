"""Each address answers, in the shape that OpenAPI promises."""

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from tests.serve.fake import EXAMPLES, FakeOrderer, Reversed
from unshuffle.errors import ConfigError
from unshuffle.serve import schemas
from unshuffle.serve.app import make_app
from unshuffle.serve.settings import Limits, Settings
from unshuffle.serve.worker import ModelThread

SHUFFLED = ["Last 3.", "First 1.", "Then 2."]


def test_sentences_come_back_in_order(client: TestClient) -> None:
    answer = client.post("/v1/order", json={"sentences": SHUFFLED, "id": "x", "n_best": 2}).json()
    assert [SHUFFLED[place] for place in answer["order"]] == ["First 1.", "Then 2.", "Last 3."]
    assert answer["id"] == "x"
    assert len(answer["n_best"]) == 2
    assert answer["sentences"] == ["First 1.", "Then 2.", "Last 3."] and answer["input"] == SHUFFLED


def test_text_is_split_at_sentences_or_at_lines(client: TestClient) -> None:
    text = "B 2. And\nA 1. Or"
    by_sentence = client.post("/v1/order", json={"text": "B is 2. A is 1."}).json()
    assert by_sentence["input"] == ["B is 2.", "A is 1."] == by_sentence["sentences"][::-1]
    by_line = client.post("/v1/order", json={"text": text, "split": "lines"}).json()
    assert by_line["input"] == ["B 2. And", "A 1. Or"]
    assert client.post("/v1/split", json={"text": text, "split": "lines"}).json() == {"sentences": by_line["input"]}


def test_a_batch_is_one_call_and_keeps_its_order(client: TestClient, model: FakeOrderer) -> None:
    documents = [{"id": str(number), "sentences": SHUFFLED[: number % 3 + 1]} for number in range(8)]
    answer = client.post("/v1/order/batch", json={"documents": documents}).json()
    assert [one["id"] for one in answer["orderings"]] == [str(number) for number in range(8)]
    assert answer["orderings"][2]["sentences"] == ["First 1.", "Then 2.", "Last 3."]
    assert model.batches == [8]


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("order", schemas.OrderAnswer),
        ("score", schemas.ScoreAnswer),
        ("graph", schemas.GraphAnswer),
        ("split", schemas.SplitAnswer),
        ("exercise", schemas.ExerciseAnswer),
    ],
)
def test_answers_have_the_shape_that_is_promised(client: TestClient, path: str, shape: type[BaseModel]) -> None:
    answer = client.post(f"/v1/{path}", json={"sentences": EXAMPLES[3]["sentences"]})
    assert answer.status_code == 200
    read = shape.model_validate_json(answer.content)
    assert set(answer.json()) == set(read.model_dump())


def test_a_worse_order_scores_lower(client: TestClient) -> None:
    right = client.post("/v1/score", json={"sentences": EXAMPLES[0]["sentences"]}).json()
    wrong = client.post("/v1/score", json={"sentences": EXAMPLES[0]["sentences"][::-1]}).json()
    assert right["percentile"] > wrong["percentile"]


def test_models_health_and_metrics(client: TestClient) -> None:
    client.post("/v1/order", json={"sentences": SHUFFLED})
    models = client.get("/v1/models").json()
    assert models["models"][0]["name"] == "fake"
    assert models["limits"]["sentences"] == 60
    assert set(models["exercise_formats"]) <= {"pdf", "docx"}
    assert client.get("/healthz").json() == {"status": "ok"}
    metrics = client.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain")
    assert 'unshuffle_documents_total{work="order"} 1.0' in metrics.text
    assert 'unshuffle_requests_total{path="/v1/order",status="200"} 1.0' in metrics.text


def test_every_request_body_has_an_example(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    formats = client.get("/v1/models").json()["exercise_formats"]
    for path, methods in described["paths"].items():
        if "post" in methods:
            shape = methods["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"].split("/")[-1]
            (example,) = described["components"]["schemas"][shape]["examples"]
            if example.get("format") in (None, *formats):
                assert client.post(path, json=example).status_code == 200, path


def test_the_page_comes_with_a_policy_and_is_not_sent_twice(client: TestClient) -> None:
    page = client.get("/")
    assert "<title>unshuffle</title>" in page.text
    assert page.headers["content-security-policy"].startswith(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
    )
    again = client.get("/", headers={"if-none-match": page.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("path", ["/page/nothing.js", "/page/..%2fapp.py", "/page/%2e%2e/app.py", "/nothing"])
def test_only_the_page_has_files(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert set(answer.json()) == {"error", "request"}


def test_a_failure_of_the_model_is_one_line_and_no_trace(client: TestClient, model: FakeOrderer) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("secret text of the user")

    model.coherence_steps = broken  # type: ignore[assignment, method-assign]
    answer = client.post("/v1/score", json={"sentences": SHUFFLED})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.json()["request"] == answer.headers["x-request-id"]


def test_a_panic_of_the_tokenizer_is_one_line_and_no_trace(client: TestClient, model: FakeOrderer) -> None:
    class Panic(BaseException):
        """As a failure in a library written in Rust appears in Python."""

    def broken(_: object) -> None:
        raise Panic("secret text of the user")

    model.pieces = broken  # type: ignore[assignment, method-assign]
    answer = client.post("/v1/order", json={"sentences": SHUFFLED})
    assert answer.status_code == 500 and set(answer.json()) == {"error", "request"}
    assert "secret" not in answer.text


def test_a_service_whose_thread_has_ended_is_not_healthy(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModelThread, "alive", False)
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (503, {"status": "failed"})


def test_an_order_may_be_asked_of_a_further_model_and_of_no_other() -> None:
    with TestClient(make_app(FakeOrderer(), Settings(), [Reversed()]), base_url="http://localhost") as client:
        names = [model["name"] for model in client.get("/v1/models").json()["models"]]
        assert names == ["fake", "reversed"]
        asked = {"sentences": ["Two is 2.", "One is 1.", "Three is 3."], "id": "a"}
        usual = client.post("/v1/order", json=asked).json()
        assert client.post("/v1/order", json={**asked, "model": "fake"}).json() == usual
        other = client.post("/v1/order", json={**asked, "model": "reversed"}).json()
        assert other["order"] == usual["order"][::-1] and other["id"] == "a"
        for name in ("default", "", "../../etc/passwd", "reversed ", "x" * 201):
            refused = client.post("/v1/order", json={**asked, "model": name})
            assert refused.status_code == 422 and refused.json()["error"].startswith("model: ")
            assert "passwd" not in refused.text


def test_a_further_model_has_the_same_limits_and_fails_alone() -> None:
    settings = Settings(limits=Limits(document_cost=30))
    with TestClient(make_app(FakeOrderer(), settings, [Reversed()]), base_url="http://localhost") as client:
        long = {"sentences": ["a word and another"] * 10, "model": "reversed"}
        assert "the limit is 30" in client.post("/v1/order", json=long).json()["error"]
        poison = {"sentences": ["poison", "a"], "model": "reversed"}
        assert client.post("/v1/order", json=poison).status_code == 422
        assert client.post("/v1/order", json={"sentences": ["One 1.", "Two 2."]}).status_code == 200


def test_two_models_of_one_name_cannot_be_told_apart() -> None:
    with pytest.raises(ConfigError, match="two models"):
        make_app(FakeOrderer(), Settings(), [FakeOrderer()])


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        ("order", {"sentnces": SHUFFLED}, "sentnces: there is no such field. Did you mean 'sentences'?"),
        ("order", {"sentences": SHUFFLED, "nbest": 2}, "nbest: there is no such field. Did you mean 'n_best'?"),
        (
            "score",
            {"sentences": SHUFFLED, "beam": 2},
            "beam: there is no such field. Known are: sentences, text, split.",
        ),
        (
            "order/batch",
            {"documents": [{"sentence": SHUFFLED}]},
            "documents[0].sentence: there is no such field. Did you mean 'sentences'?",
        ),
    ],
)
def test_an_unknown_field_gets_advice(client: TestClient, path: str, body: object, error: str) -> None:
    answer = client.post(f"/v1/{path}", json=body)
    assert (answer.status_code, answer.json()["error"]) == (422, error)


def test_what_is_no_json_is_shown_where(client: TestClient) -> None:
    answer = client.post("/v1/order", content='{\n "secret" }', headers={"content-type": "application/json"})
    assert answer.json()["error"].startswith("body: it is not JSON at line 2 column ")
    assert "secret" not in answer.text


def test_a_wrong_method_or_address_is_told_the_right_one(client: TestClient) -> None:
    answer = client.get("/v1/order")
    assert (answer.status_code, answer.json()["error"]) == (405, "method: it is not allowed at this address. Use POST.")
    assert client.post("/healthz").json()["error"].endswith("Use GET.")
    assert "GET /openapi.json" in client.get("/v1/nothing").json()["error"]


def test_a_body_that_is_refused_unread_counts_for_its_own_address(client: TestClient) -> None:
    assert client.post("/v1/order", content="x", headers={"content-type": "text/plain"}).status_code == 415
    assert client.post("/v1/secret", content="x", headers={"content-type": "text/plain"}).status_code == 404
    counted = client.get("/metrics").text
    assert 'unshuffle_requests_total{path="/v1/order",status="415"} 1.0' in counted and "secret" not in counted
