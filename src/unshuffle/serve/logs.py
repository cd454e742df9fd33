"""One JSON object per line, with counts and times and never a user's text."""

from __future__ import annotations

import json
import logging
import warnings
from datetime import UTC, datetime
from typing import Any, TextIO

from unshuffle.errors import Doubt

logger = logging.getLogger("unshuffle.serve")


class JsonLines(logging.Formatter):
    """Writes a record's `facts`; of an error only its kind and place, because its message may quote a text."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        facts: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": _event(record),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0]:
            facts |= {"error": record.exc_info[0].__name__, "at": _place(record.exc_info[2])}
        # In ASCII, so that no reader takes a character of the text for the end of a line.
        return json.dumps(facts, default=str)


def _event(record: logging.LogRecord) -> str:
    """The message; of loggers that are not the service's only its first line, without what could quote a user."""
    if record.name.partition(".")[0] == "uvicorn" or record.name == logger.name:
        return record.getMessage()
    arguments = record.args if isinstance(record.args, tuple) else ()
    try:
        message = str(record.msg) % tuple(
            argument if isinstance(argument, (int, float)) else "..." for argument in arguments
        )
    except (TypeError, ValueError):
        message = str(record.msg)
    line = message.partition("\n")[0]
    # A Python warning begins with its place and kind.
    return ": ".join(line.split(": ")[:2]) if record.name == "py.warnings" else line


def _place(trace: Any) -> str:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}" if trace is not None else ""


def set_up_logs(stream: TextIO, level: int = logging.INFO) -> None:
    """Send everything that is logged, by whichever library, to a stream in the same form."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    for name in (logger.name, "uvicorn.error"):
        logging.getLogger(name).setLevel(level)
    for name in list(logging.root.manager.loggerDict):
        log = logging.getLogger(name)
        log.handlers, log.propagate = [], True
    # One of ours is written for each request; uvicorn's would add the raw path.
    logging.getLogger("uvicorn.access").propagate = False
    logging.captureWarnings(True)
    warnings.simplefilter("ignore", Doubt)  # answers tell it


def log(event: str, **facts: Any) -> None:
    """Write what happened."""
    logger.info(event, extra={"facts": facts})
