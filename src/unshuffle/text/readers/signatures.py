"""Files that are not plain text, told by their first bytes."""

from __future__ import annotations

from unshuffle.errors import DataError

_EXPORT = "Export it as plain text."
SIGNATURES = {
    b"%PDF-": "a PDF file",
    b"PK\x03\x04": "a Word document or another packed archive",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Word or other Office file",
    b"{\\rtf": "an RTF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF87a": "a picture",
    b"GIF89a": "a picture",
}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How UTF-16 begins where it says so itself."""


def check_text(name: str, head: bytes) -> None:
    """Refuses what begins like a file of another kind, before its bytes are taken for broken lines."""
    for signature, kind in SIGNATURES.items():
        if head.startswith(signature):
            raise DataError(f"{name}: it is {kind}, not text. {_EXPORT}")
    # Latin letters in UTF-16 have every other byte zero, which UTF-8 would let pass.
    if head.startswith(UTF_16) or bytes(4) in (head[0:8:2], head[1:8:2]):
        raise DataError(f"{name}: it is UTF-16 text. Save the file as UTF-8.")
