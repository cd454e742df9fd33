"""How answers look: JSON, and for what went wrong one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Sent with every answer."""


def answer(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer; what is not a number in JSON, such as infinity, becomes null."""
    return Response(to_json(content, inf_nan_mode="null"), status, dict(headers or {}), media_type="application/json")


def problem(status: int, message: str, request: str = "", headers: Mapping[str, str] | None = None) -> Response:
    """What went wrong, in one line."""
    line = " ".join(message.split())
    return answer({"error": line, "request": request}, status, headers)
