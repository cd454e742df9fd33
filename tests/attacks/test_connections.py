"""Raw sockets against a real server: half requests, clients that go, and a signal."""

import json
import socket
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest

from tests.serve.conftest import Server

Serve = Callable[..., Server]
HOST = b"Host: localhost\r\n"


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def ask(connection: HTTPConnection, path: str, asked: dict[str, Any]) -> HTTPResponse:
    connection.request("POST", f"/v1/{path}", json.dumps(asked), {"content-type": "application/json"})
    return connection.getresponse()


def order(connection: HTTPConnection) -> HTTPResponse:
    answer = ask(connection, "order", {"sentences": ["Two 2.", "One 1."]})
    answer.read()
    return answer


def trickle(connection: socket.socket, byte: bytes) -> None:
    """Send a byte at a time until the other side has closed."""
    connection.settimeout(0.05)
    for _ in range(400):
        try:
            connection.sendall(byte)
            if connection.recv(1000) == b"":
                return
        except TimeoutError:
            continue
        except OSError:
            return
    raise AssertionError("the server never closed")


def test_half_a_header_is_not_waited_for(serve: Serve) -> None:
    server = serve(connections={"header_seconds": 0.4})
    with connect(server) as silent, connect(server) as half, connect(server) as second:
        half.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        second.sendall(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += second.recv(1000)
        assert answer.startswith(b"HTTP/1.1 200")
        second.sendall(b"GET /healthz HT")
        for connection in (silent, half, second):
            assert connection.recv(1000) == b""


def test_a_request_that_trickles_in_is_cut_off(serve: Serve) -> None:
    server = serve(connections={"header_seconds": 0.4})
    for begin, byte in (
        (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-Long: ", b"a"),
        (b"GET /healthz HTTP/1.1\r\n" + HOST, b"X-More: a\r\n"),
        (b"\r\n", b"\r\n"),
        (b"GET /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: 1000000\r\n\r\n", b"a"),
        (b"POST /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: 1000000\r\n\r\n", b"a"),
        (b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: upgrade\r\nUpgrade: websocket\r\n", b"a"),
    ):
        with connect(server) as slow:
            slow.sendall(begin)
            trickle(slow, byte)


def test_an_answer_that_nobody_takes_is_not_kept(serve: Serve) -> None:
    server = serve(connections={"send_seconds": 0.4, "idle_seconds": 60})
    document = {"sentences": [f"Number {number}." for number in range(60)]}
    body = json.dumps({"documents": [document] * 64}).encode()
    with socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.settimeout(60)
        lazy.connect(("127.0.0.1", server.port))
        lazy.sendall(
            b"POST /v1/order/batch HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body) + body
        )
        while "/v1/order/batch" not in server.log.read_text():
            time.sleep(0.05)
        time.sleep(1)
        header, _, rest = lazy.recv(4096).partition(b"\r\n\r\n")
        length = int(header.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        received = len(rest)
        try:
            while part := lazy.recv(1_000_000):
                received += len(part)
        except ConnectionResetError:
            pass
        assert received < length


def test_idle_connections_make_room_for_a_new_one(serve: Serve) -> None:
    server = serve(connections={"most": 5, "header_seconds": 60, "idle_seconds": 60})
    idle = [connect(server) for _ in range(20)]
    connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
    assert order(connection).status == 200
    for one in idle:
        one.close()


def test_bodies_that_do_not_come_make_room_for_a_new_connection(serve: Serve) -> None:
    server = serve(connections={"most": 5, "body_seconds": 60})
    halves = [connect(server) for _ in range(10)]
    for half in halves:
        half.sendall(
            b"POST /v1/order HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{"
        )
        time.sleep(0.02)
    for _ in range(3):
        connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
        assert order(connection).status == 200
    for half in halves:
        half.close()


def test_requests_that_are_being_answered_are_not_cut_off_for_new_ones(serve: Serve) -> None:
    server = serve(model={"seconds_a_call": 1.0}, connections={"most": 3})
    asking = [HTTPConnection("127.0.0.1", server.port, timeout=20) for _ in range(3)]
    for connection in asking:
        body = json.dumps({"sentences": ["Two 2.", "One 1."]})
        connection.request("POST", "/v1/order", body, {"content-type": "application/json"})
    time.sleep(0.3)
    assert order(HTTPConnection("127.0.0.1", server.port, timeout=20)).status == 503
    assert [connection.getresponse().status for connection in asking] == [200] * 3


@pytest.mark.parametrize("second", [b"Transfer-Encoding: chunked", b"Content-Length: 6"])
def test_two_lengths_of_one_body_are_refused(serve: Serve, second: bytes) -> None:
    server = serve()
    for method in (b"POST /v1/order", b"GET /healthz"):
        with connect(server) as smuggler:
            smuggler.sendall(
                method
                + b" HTTP/1.1\r\n"
                + HOST
                + b"Content-Type: application/json\r\nContent-Length: 5\r\n"
                + second
                + b"\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n"
                + HOST
                + b"\r\n"
            )
            answer = b""
            while part := smuggler.recv(10_000):
                answer += part
        assert answer.startswith(b"HTTP/1.1 400")
        assert answer.count(b"HTTP/1.1") == 1


def test_clients_that_have_gone_do_not_keep_the_next_one_waiting(serve: Serve) -> None:
    server = serve(model={"seconds_a_document": 0.2}, batching={"slice": 20, "long": 2, "waiting": 128})
    many = json.dumps({"documents": [{"sentences": ["Two is 2.", "One is 1."]}] * 64}).encode()
    header = b"POST /v1/order/batch HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
    for _ in range(5):
        with connect(server) as gone:
            gone.sendall(header + b"Content-Length: %d\r\n\r\n" % len(many) + many)
            time.sleep(0.1)
    connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
    assert order(connection).status == 200
    few = {"documents": [{"sentences": ["Two is 2.", "One is 1."]}] * 6}
    assert ask(connection, "order/batch", few).status == 200
    server.stop()
    batches = [line for line in server.lines() if line.get("path") == "/v1/order/batch"]
    assert [line["status"] for line in batches].count(499) == 5


def test_the_last_answer_on_a_kept_connection_says_so(serve: Serve) -> None:
    server = serve(model={"seconds_a_call": 0.02}, connections={"last_seconds": 20, "idle_seconds": 60})
    kept = [HTTPConnection("127.0.0.1", server.port, timeout=20) for _ in range(8)]
    for connection in kept:
        assert order(connection).getheader("connection") is None
    server.process.terminate()
    while "Shutting down" not in server.log.read_text():
        time.sleep(0.01)
    for connection in kept:
        answer = order(connection)
        assert answer.status == 200
        assert answer.getheader("connection") == "close"
    assert server.process.wait(timeout=20) in (0, -15)
    assert all(line["level"] == "info" for line in server.lines())


def test_a_request_under_way_when_the_signal_comes_is_answered_and_says_that_it_is_the_last(serve: Serve) -> None:
    server = serve(model={"seconds_a_call": 2.5})
    connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
    body = json.dumps({"sentences": ["Two 2.", "One 1."]})
    connection.request("POST", "/v1/order", body, {"content-type": "application/json"})
    time.sleep(1.5)  # longer than uvicorn keeps a list of headers
    server.process.terminate()
    answer = connection.getresponse()
    assert (answer.status, answer.getheader("connection")) == (200, "close")
    assert server.process.wait(timeout=20) in (0, -15)


def test_the_end_comes_though_the_model_is_stuck(serve: Serve) -> None:
    server = serve(model={"seconds_a_call": 300}, batching={"last_seconds": 2})
    body = b'{"sentences": ["Two 2.", "One 1."]}'
    with connect(server) as gone:
        gone.sendall(
            b"POST /v1/order HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body) + body
        )
        time.sleep(0.2)
    waiting = HTTPConnection("127.0.0.1", server.port, timeout=20)
    waiting.request("POST", "/v1/order", body, {"content-type": "application/json"})
    time.sleep(0.2)
    server.process.terminate()
    assert waiting.getresponse().status == 503
    assert server.process.wait(timeout=20) in (0, -15)
