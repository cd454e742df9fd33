"""Nothing that a client sends can write a line of the log, or stand in one."""

import io
import json
import logging
import warnings
from collections.abc import Callable, Iterator
from http.client import HTTPConnection

import pytest

from tests.serve.conftest import Server
from unshuffle.errors import Doubt
from unshuffle.serve.logs import JsonLines, set_up_logs

FORGED = '{"time": "2026", "level": "info", "event": "request", "status": 200}'
ENDS = ["\n", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x1b[2K\r"]


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Everything that is logged, and logging as it was afterwards."""
    root = logging.getLogger()
    before = (
        root.handlers,
        {
            name: (log.handlers, log.propagate, log.level)
            for name, log in logging.root.manager.loggerDict.items()
            if isinstance(log, logging.Logger)
        },
    )
    stream = io.StringIO()
    set_up_logs(stream)
    yield stream
    logging.captureWarnings(False)
    root.handlers = before[0]
    for name, (handlers, propagate, level) in before[1].items():
        log = logging.getLogger(name)
        log.handlers, log.propagate = handlers, propagate
        log.setLevel(level)


def test_an_id_with_a_line_break_forges_nothing(serve: Callable[..., Server]) -> None:
    server = serve()
    connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
    for end in ENDS:
        asked = {"sentences": ["An overlong one 2.", "One 1."], "id": f"secret{end}{FORGED}"}
        connection.request("POST", "/v1/order", json.dumps(asked), {"content-type": "application/json"})
        assert connection.getresponse().read()
    connection.close()
    server.stop()
    written = server.log.read_text(encoding="utf-8")
    assert "secret" not in written and "2026" not in {line.get("time") for line in server.lines()}
    told = [line for line in server.lines() if line["level"] == "warning"]
    assert [line["event"] for line in told] == ["document '...': the model reads 96 word pieces of a sentence."] * 7


@pytest.mark.parametrize("name", ["unshuffle.system.orderer", "asyncio", "uvicorn.error", "some.library", "root"])
@pytest.mark.parametrize("end", ENDS)
def test_every_logger_writes_json_of_one_line(stream: io.StringIO, name: str, end: str) -> None:
    logging.getLogger(name).error("it failed: %s%s", end, FORGED)
    logging.getLogger(name).error(f"it failed{end}")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2 and stream.getvalue().isascii()
    assert all(json.loads(line)["event"].startswith("it failed") for line in lines)


def test_warnings_of_libraries_are_json_too(stream: io.StringIO) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn(f"secret\n{FORGED}", stacklevel=1)
    (line,) = stream.getvalue().splitlines()
    assert "secret" not in line
    assert json.loads(line)["level"] == "warning"


def test_what_answers_tell_is_not_logged_too(stream: io.StringIO) -> None:
    warnings.warn("The text does not look like English.", Doubt, stacklevel=1)
    assert not stream.getvalue()


def test_the_message_of_an_error_is_left_out() -> None:
    record = logging.LogRecord("unshuffle.serve", logging.ERROR, "", 1, "failed", (), None)
    try:
        raise ValueError(f"secret\n{FORGED}")
    except ValueError as error:
        record.exc_info = (ValueError, error, error.__traceback__)
    written = JsonLines().format(record)
    assert "secret" not in written
    assert json.loads(written)["error"] == "ValueError"
