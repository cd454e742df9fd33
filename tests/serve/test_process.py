"""A real server: logs, load, and a signal in the middle of it."""

import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import httpx

from tests.serve.conftest import Server

Serve = Callable[..., Server]
SECRET = "A heron called Zebedee 2 landed on the roof."


def order(client: httpx.Client, url: str) -> httpx.Response:
    return client.post(f"{url}/v1/order", json={"sentences": [SECRET, "Something else 1."]})


def test_logs_are_json_and_never_hold_a_text(serve: Serve) -> None:
    server = serve()
    with httpx.Client(trust_env=False) as client:
        answer = order(client, server.url)
        client.get(f"{server.url}/Zebedee?q=Zebedee")
        client.post(
            f"{server.url}/v1/order", content=f'["Zebedee {SECRET}', headers={"content-type": "application/json"}
        )
        client.post(f"{server.url}/v1/order", json={"sentences": ["poison Zebedee"]})
    assert server.stop() == -15 or server.process.returncode == 0
    assert "Zebedee" not in server.log.read_text()
    requests = [line for line in server.lines() if line["event"] == "request" and line["path"] == "/v1/order"]
    assert [line["status"] for line in requests] == [200, 422, 422]
    first = requests[0]
    assert first["request"] == answer.headers["x-request-id"]
    assert (first["method"], first["documents"], first["sentences"]) == ("POST", 1, 2)
    assert first["ms"] > 0
    assert server.lines()[-1]["level"] == "info"


def test_a_signal_in_mid_load_loses_no_accepted_request(serve: Serve) -> None:
    server = serve(model={"seconds_a_call": 0.05}, batching={"documents": 4})
    answered: list[int] = []
    stopping = threading.Event()

    def client(_: int) -> None:
        with httpx.Client(trust_env=False, verify=False, timeout=20) as session:
            while not stopping.is_set():
                try:
                    answered.append(order(session, server.url).status_code)
                except (httpx.ConnectError, httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                    return  # no longer accepted; what was accepted is counted from the log

    with ThreadPoolExecutor(12) as pool:
        clients = [pool.submit(client, number) for number in range(12)]
        while len(answered) <= 24:
            time.sleep(0.01)
        server.stop()
        stopping.set()
        for one in clients:
            one.result()
    accepted = [line for line in server.lines() if line["event"] == "request" and line["path"] == "/v1/order"]
    assert len(answered) == len(accepted) > 20
    assert set(answered) <= {200, 503}
    assert server.lines()[-1]["event"].startswith("Finished")


def test_a_full_queue_answers_503_with_retry_after(serve: Serve) -> None:
    server = serve(
        model={"seconds_a_call": 0.3}, limits={"documents": 2}, batching={"documents": 1, "waiting": 2, "window": 0}
    )
    with httpx.Client(trust_env=False, timeout=20) as client, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: order(client, server.url), range(8)))
    refused = [one for one in found if one.status_code == 503]
    assert refused
    assert all(int(one.headers["retry-after"]) >= 1 for one in refused)
    assert {one.status_code for one in found} == {200, 503}


def test_a_request_that_takes_too_long_gets_one_line(serve: Serve) -> None:
    server = serve(model={"seconds_a_call": 2}, batching={"seconds": 0.3})
    with httpx.Client(trust_env=False) as client:
        answer = order(client, server.url)
    assert answer.status_code == 504
    assert answer.json()["error"].startswith("time: no answer within 0.3 s")


def test_a_body_that_never_ends_is_not_waited_for(serve: Serve) -> None:
    server = serve(connections={"body_seconds": 0.4})
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as slow:
        slow.sendall(
            b"POST /v1/order HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 90\r\n\r\n{"
        )
        assert slow.recv(100).startswith(b"HTTP/1.1 408")


def test_a_large_body_is_refused_while_it_streams(serve: Serve) -> None:
    server = serve(limits={"bytes": 50_000})
    connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("POST", "/v1/order")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    for _ in range(60):
        connection.send(b"3e8\r\n" + b" " * 1000 + b"\r\n")
    answer = connection.getresponse()
    assert answer.status == 413
    assert json.loads(answer.read())["error"].startswith("body: it is too large")
    connection.close()
