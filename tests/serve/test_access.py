"""Who may ask."""

import pytest
from fastapi.testclient import TestClient

from tests.serve.fake import FakeOrderer
from unshuffle.errors import ConfigError
from unshuffle.serve.access import KnownHost
from unshuffle.serve.app import make_app
from unshuffle.serve.settings import Settings, is_loopback

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("localhost", True),
        ("LOCALHOST:8000", True),
        ("127.0.0.1:9999", True),
        ("[::1]:8000", True),
        ("192.0.2.7:8000", True),
        ("192.0.2.7:9", False),
        ("order.example", True),
        ("order.example:443", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example:8000", False),
        ("", False),
    ],
)
def test_only_own_names_are_answered(host: str, known: bool) -> None:
    settings = Settings(host="192.0.2.7", port=8000, token=TOKEN, allowed_hosts=("order.example",))

    async def nothing(*_: object) -> None: ...

    assert KnownHost(nothing, settings=settings).known(host) is known


def test_a_foreign_name_gets_not_even_the_page(client: TestClient) -> None:
    for path in ("/", "/healthz", "/v1/models"):
        assert client.get(path, headers={"host": "evil.example"}).status_code == 421


@pytest.mark.parametrize("given", [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN])
def test_without_the_token_nothing_is_computed(given: str | None) -> None:
    model = FakeOrderer()
    with TestClient(make_app(model, Settings(token=TOKEN)), base_url="http://localhost") as client:
        headers = {} if given is None else {"authorization": given}
        answer = client.post("/v1/order", json={"sentences": ["a"]}, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert client.get("/metrics", headers=headers).status_code == 401
    assert model.batches == []


def test_with_the_token_all_is_open_and_without_it_page_and_health() -> None:
    with TestClient(make_app(FakeOrderer(), Settings(token=TOKEN)), base_url="http://localhost") as client:
        headers = {"authorization": f"bearer {TOKEN}"}
        assert client.post("/v1/order", json={"sentences": ["a"]}, headers=headers).status_code == 200
        assert client.get("/metrics", headers=headers).status_code == 200
        assert client.get("/").status_code == 200
        assert client.get("/healthz").status_code == 200


def test_of_all_routes_only_page_health_and_description_are_open() -> None:
    app = make_app(FakeOrderer(), Settings(token=TOKEN))
    with TestClient(app, base_url="http://localhost") as client:
        described = client.get("/openapi.json").json()["paths"]
        open_paths = {path for path in (*described, "/docs", "/redoc") if client.get(path).status_code != 401}
    assert len(described) > 8 and open_paths - {"/", "/healthz", "/openapi.json"} == set()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::", "order.example", ""])
def test_an_address_that_others_can_reach_needs_a_token(host: str) -> None:
    with pytest.raises(ConfigError, match="UNSHUFFLE_TOKEN"):
        Settings(host=host)
    Settings(host=host, token=TOKEN)


@pytest.mark.parametrize("token", ["", "short", "sixteen letters with blanks", "ünïcödé-ünïcödé-ünïcödé"])
def test_a_weak_or_unsendable_token_is_refused(token: str) -> None:
    with pytest.raises(ConfigError, match="token"):
        Settings(token=token)


def test_loopback_is_recognised() -> None:
    assert all(map(is_loopback, ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"]))
