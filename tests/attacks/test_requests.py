"""Bodies, texts, methods and paths that are made to hurt."""

import socket
import threading
import time
from typing import Any

import pytest
import typer
from fastapi.testclient import TestClient
from pydantic import ValidationError
from typer.testing import CliRunner

import unshuffle.serve.limits
import unshuffle.system.orderer
from tests.serve.fake import FakeOrderer
from unshuffle.cli.serve import serve as serve_command
from unshuffle.errors import ConfigError
from unshuffle.serve.app import make_app
from unshuffle.serve.requests import Asked, BatchRequest, ExerciseRequest, OrderRequest
from unshuffle.serve.settings import Settings
from unshuffle.text.split import split_sentences

TOKEN = "0123456789abcdef"
MANY = 300_000


@pytest.mark.parametrize(
    ("shape", "asked"),
    [
        (OrderRequest, {"sentences": [1] * MANY}),
        (OrderRequest, {"sentences": ["a"] * MANY}),
        (OrderRequest, {f"field {number}": 1 for number in range(MANY)}),
        (OrderRequest, {"sentences": ["a"], "before": [[0]] * MANY}),
        (OrderRequest, {"sentences": ["a"], "before": [[0.5] * MANY]}),
        (OrderRequest, {"sentences": ["a"], "fixed": [1] * MANY}),
        (OrderRequest, {"sentences": ["a"], "sources": [[]] * 9_000}),
        (BatchRequest, {"documents": [1] * MANY}),
        (BatchRequest, {"documents": [{}] * MANY}),
        (BatchRequest, {"documents": [{f"field {number}": 1 for number in range(MANY)}]}),
        (BatchRequest, {"documents": [{"sentences": [1] * MANY}] * 9_000}),
        (ExerciseRequest, {"sentences": [None] * MANY}),
    ],
)
def test_refusing_a_body_takes_no_longer_than_its_first_fault(shape: type[Asked], asked: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        shape.model_validate(asked)
    assert refused.value.error_count() <= 4


@pytest.mark.parametrize(
    "part", ["A. ", "1. ", ". ) ", "e.g. ", "Mr. ", "\n \t", ".)", "A.B.", ". ''", "(", "“. ", "a\r", "U.S. "]
)
def test_splitting_takes_time_in_proportion_to_the_text(part: str) -> None:
    def seconds(times: int) -> float:
        began = time.thread_time()
        split_sentences(part * times)
        return time.thread_time() - began

    once, sixteen_times = min(seconds(5_000) for _ in range(3)), seconds(80_000)
    # In quadratic time it would be 256 times as long.
    assert sixteen_times < 80 * once + 0.05


def test_a_text_too_long_for_any_answer_is_not_split(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unshuffle.serve.limits.split_sentences", lambda _: pytest.fail("it was split"))
    for path in ("split", "order", "score", "graph", "exercise"):
        answer = client.post(f"/v1/{path}", json={"text": "A. " * 330_000})
        assert answer.status_code == 422
        assert answer.json()["error"] == "text: 990000 characters are too many. Give at most 240000."


def test_text_is_split_outside_the_event_loop(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[str] = set()

    def read(*_: Any) -> tuple[str, ...]:
        threads.add(threading.current_thread().name)
        return ("One 1.", "Two 2.", "Three 3.")

    monkeypatch.setattr(unshuffle.serve.limits, "read_sentences", read)
    for path in ("split", "order", "score", "graph", "exercise"):
        assert client.post(f"/v1/{path}", json={"text": "One. Two."}).status_code == 200
    assert client.post("/v1/order/batch", json={"documents": [{"text": "One. Two."}]}).status_code == 200
    # Asyncio names the threads of its pool so; the loop itself runs in another.
    assert threads and all(name.startswith("asyncio_") for name in threads)


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/", "/v1/models", "/openapi.json", "/page/style.css"])
def test_what_can_only_be_got_cannot_be_posted_to(client: TestClient, path: str) -> None:
    for headers in ({}, {"content-type": "text/plain"}, {"content-type": "application/json"}):
        assert client.post(path, content=b"{}", headers=headers).status_code == 405
    for method in ("PUT", "DELETE", "PATCH"):
        assert client.request(method, path).status_code == 405


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/", "/v1/models", "/openapi.json", "/page/style.css"])
def test_what_can_be_got_has_a_head(client: TestClient, path: str) -> None:
    got, head = client.get(path), client.head(path)
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-type"] == got.headers["content-type"]
    if path != "/metrics":
        assert head.headers["content-length"] == str(len(got.content))


def test_what_can_only_be_posted_to_has_no_head(client: TestClient) -> None:
    assert client.head("/v1/order").status_code == 405
    assert client.head("/nothing").status_code == 404


@pytest.mark.parametrize(
    "path", ["/metrics", "/metrics/", "//metrics", "/metrics//", "/v1/models", "/v1/models/", "/v1", "/nothing", "/v1/"]
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_nothing_but_page_and_health_is_open_without_the_token(path: str, method: str) -> None:
    with TestClient(make_app(FakeOrderer(), Settings(token=TOKEN)), base_url="http://localhost") as client:
        assert client.request(method, f"http://localhost{path}", follow_redirects=False).status_code == 401
        assert client.get("/page/style.css").status_code == 200


def test_openapi_says_sentences_or_text(client: TestClient) -> None:
    shapes = client.get("/openapi.json").json()["components"]["schemas"]
    for name in ("Sentences", "OrderRequest", "ExerciseRequest", "BatchDocument"):
        assert [option["required"] for option in shapes[name]["oneOf"]] == [["sentences"], ["text"]]


GERMAN = ["Der Hund lief schnell über die Straße.", "Danach schlief er lange unter dem alten Baum im Garten."]
ENGLISH = ["The dog ran across the street.", "After that it slept for a long time under the tree."]


@pytest.mark.parametrize("path", ["order", "score", "graph", "exercise"])
def test_text_that_is_not_english_gets_a_warning(client: TestClient, path: str) -> None:
    (warning,) = client.post(f"/v1/{path}", json={"sentences": [*GERMAN, "Ende."]}).json()["warnings"]
    assert "English" in warning
    assert client.post(f"/v1/{path}", json={"sentences": [*ENGLISH, "It woke."]}).json()["warnings"] == []


def test_each_document_of_a_batch_has_its_own_warnings(client: TestClient) -> None:
    asked = {"documents": [{"sentences": ENGLISH}, {"sentences": GERMAN}]}
    found = client.post("/v1/order/batch", json=asked).json()["orderings"]
    assert [len(one["warnings"]) for one in found] == [0, 1]


def test_an_occupied_port_is_one_line_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSHUFFLE_TOKEN", raising=False)
    never = classmethod(lambda *_, **__: pytest.fail("the model was loaded"))
    monkeypatch.setattr(unshuffle.system.orderer.Orderer, "from_pretrained", never)
    app = typer.Typer()
    app.command()(serve_command)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = CliRunner().invoke(app, ["--port", str(port)])
    assert isinstance(result.exception, ConfigError)  # which `unshuffle` prints, and leaves with 2
    assert str(result.exception) == (
        f"127.0.0.1:{port}: address already in use. Stop the other program, or choose another --port or --host."
    )
    assert result.output == ""
