"""A language model's endpoint that is hostile: it cannot hold a judge, fill its memory, or write on the terminal."""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from unshuffle.errors import ConfigError, UnshuffleError
from unshuffle.judge.endpoint import FAILURES, Endpoint, chat_url

Script = Callable[[socket.socket], None]
FINE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = FINE + b"Transfer-Encoding: chunked\r\n\r\n"
TIMEOUT, HELD = 0.5, 8.0
"""Seconds that the judge allows, and that the endpoint would go on."""


@contextmanager
def endpoint(script: Script) -> Iterator[str]:
    """The address of an endpoint that answers every request by a script of its own."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer(connection: socket.socket) -> None:
            with connection:
                try:
                    connection.recv(100_000)
                    script(connection)
                except OSError:
                    pass  # the judge has hung up

        def listen() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        server.shutdown(socket.SHUT_RDWR)


def endless(part: bytes, *, first: bytes = b"", pause: float = 0.0) -> Script:
    def script(connection: socket.socket) -> None:
        end = time.monotonic() + HELD
        connection.sendall(first)
        while time.monotonic() < end:
            connection.sendall(part)
            time.sleep(pause)

    return script


ENDLESS = {
    "interim answers": endless(b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "interim answers, slowly": endless(b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.1),
    "a status line, slowly": endless(b"H", pause=0.1),
    "a header, slowly": endless(b"a", first=FINE + b"X-Long: ", pause=0.1),
    "a body": endless(b"a" * 65_536, first=FINE + b"\r\n"),
    "a body, slowly": endless(b"a", first=FINE + b"Content-Length: 900000\r\n\r\n", pause=0.1),
    "chunks": endless(b"1000\r\n" + b"a" * 4096 + b"\r\n", first=CHUNKED),
    "empty lines of a chunk's size": endless(b"0", first=CHUNKED, pause=0.1),
    "lines after the body": endless(b"X-More: a\r\n" * 500, first=CHUNKED + b"2\r\n{}\r\n0\r\n"),
    "lines after the body, slowly": endless(b"X-More: a\r\n", first=CHUNKED + b"2\r\n{}\r\n0\r\n", pause=0.1),
    "a refusal's header, slowly": endless(b"a", first=b"HTTP/1.1 500 No\r\nX-Long: ", pause=0.1),
    "silence": endless(b"", pause=0.1),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_an_answer_without_end_is_cut_off_in_time(what: str) -> None:
    with endpoint(ENDLESS[what]) as url:
        began = time.monotonic()
        reply = Endpoint(url, timeout=TIMEOUT, attempts=1).ask({})
    assert reply.content is None
    assert time.monotonic() - began < HELD / 2


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "address", ["http://[bad", "http://127.0.0.1:1/v1", "file:///etc/passwd", "//x:y:z", "\\\\[", ""]
)
def test_an_address_to_which_it_wants_to_send_us_is_not_even_read(status: int, address: str) -> None:
    def moved(connection: socket.socket) -> None:
        connection.sendall(f"HTTP/1.1 {status} Moved\r\nLocation: {address}\r\nContent-Length: 0\r\n\r\n".encode())

    with endpoint(moved) as url:
        asked = Endpoint(url, timeout=TIMEOUT)
        assert asked.ask({}).content is None
    assert asked.given_up == f"it answered {status}"


ODD = {
    "digits of a status": b"HTTP/1.1 " + b"9" * 5_000 + b" Odd\r\n\r\n",
    "digits of a length": FINE + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n[]",
    "a length below nothing": FINE + b"Content-Length: -7\r\n\r\n[]",
    "digits of a chunk": CHUNKED + b"F" * 5_000 + b"\r\n[]",
    "a chunk below nothing": CHUNKED + b"-5\r\n[]\r\n0\r\n\r\n",
    "a moment that is none": b"HTTP/1.1 429 Busy\r\nRetry-After: Wed, 99 Foo 2015 99:99:99 +99999999999\r\n\r\n",
    "digits of a moment": b"HTTP/1.1 429 Busy\r\nRetry-After: " + b"9" * 5_000 + b"\r\n\r\n",
    "packed": FINE + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00",
    "another encoding": FINE + b"Content-Length: 4\r\n\r\n\xff\xfe\x00\x00",
    "many headers": FINE + b"X-More: a\r\n" * 10_000 + b"\r\n{}",
    "zeros": b"\0" * 1_000,
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_answer_is_no_answer(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with endpoint(lambda connection: connection.sendall(ODD[what])) as url:
        assert Endpoint(url, timeout=TIMEOUT, attempts=2).ask({}).content is None


def test_what_it_says_reaches_no_terminal_as_a_command(caplog: pytest.LogCaptureFixture) -> None:
    script = b"\x1b]0;owned\x07\x1b[2Jnot HTTP\x85\x0bforged line\r\n\r\n"
    with endpoint(lambda connection: connection.sendall(script)) as url, caplog.at_level(logging.WARNING):
        asked = Endpoint(url, timeout=TIMEOUT, attempts=1)
        for _ in range(FAILURES):
            asked.ask({})
    assert asked.given_up.startswith("BadStatusLine") and asked.given_up.isprintable()
    assert [record.getMessage().isprintable() for record in caplog.records] == [True]


@pytest.mark.parametrize(
    "url", ["http://[", "http://[::1/v1", "http://host:99999999/v1", "http://host:x/v1", "http://h:0"]
)
def test_addresses_that_cannot_be_read_are_one_line(url: str) -> None:
    with pytest.raises(ConfigError, match="expected an address"):
        chat_url(url)


def test_an_error_that_quotes_a_stranger_s_file_has_no_signs_that_a_terminal_obeys() -> None:
    assert str(UnshuffleError("name '\x1b[2J\u202eevil\x9b\ud800\r\nnext\tpart  kept'")) == (
        "name '\ufffd[2J\ufffdevil\ufffd\ufffd next part  kept'"
    )
