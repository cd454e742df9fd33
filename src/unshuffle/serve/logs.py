"""One JSON object a line, with counts and times and never a user's text."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any, TextIO

logger = logging.getLogger("unshuffle.serve")


class JsonLines(logging.Formatter):
    """Writes a record's `facts`; of an error only its kind and place, because its message may quote a text."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        facts: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0]:
            facts |= {"error": record.exc_info[0].__name__, "at": _place(record.exc_info[2])}
        return json.dumps(facts, ensure_ascii=False, default=str)


def _place(trace: Any) -> str:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_name}:{trace.tb_lineno}" if trace is not None else ""


def set_up_logs(stream: TextIO, level: int = logging.INFO) -> None:
    """Send the service's log and uvicorn's to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    for name in ("unshuffle.serve", "uvicorn.error"):
        log = logging.getLogger(name)
        log.handlers = [handler]
        log.setLevel(level)
        log.propagate = False
    # One of ours is written for each request; uvicorn's would add the raw path.
    logging.getLogger("uvicorn.access").handlers = []
    logging.getLogger("uvicorn.access").propagate = False


def log(event: str, **facts: Any) -> None:
    """Write what happened."""
    logger.info(event, extra={"facts": facts})
