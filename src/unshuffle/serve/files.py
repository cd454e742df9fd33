"""The page's files, read once; a request can only name one of these."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "page"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class File:
    """A file of the page, ready to be sent."""

    content: bytes
    type: str
    tag: str

    def answer(self, request: Request) -> Response:
        """The file, or that the browser's copy is still good."""
        headers = {"etag": self.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        return Response(self.content, headers={**headers, "content-type": self.type})


def page_files() -> dict[str, File]:
    """All files of the page by name."""
    files = {}
    for path in sorted(FOLDER.iterdir()):
        if path.suffix in TYPES:
            content = path.read_bytes()
            files[path.name] = File(content, TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:16]}"')
    return files
