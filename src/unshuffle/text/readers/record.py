"""One record to one document, with everything checked that a file can have wrong."""

from __future__ import annotations

from unshuffle.errors import DataError
from unshuffle.text.document import LARGEST_DOCUMENT, LONGEST_SENTENCE, TOO_LARGE, TOO_LONG, Document


def document(where: str, sentences: object, id: object, default_id: str) -> Document:
    """A document; what is wrong is said with the place in the file."""
    if not isinstance(sentences, list | tuple):
        raise DataError(f'{where}: the sentences are not a list. Give ["...", "..."].')
    if not sentences:
        raise DataError(f"{where}: the document has no sentence. Give at least one.")
    for place, sentence in enumerate(sentences, start=1):
        if not isinstance(sentence, str):
            raise DataError(f"{where}: sentence {place} is not text but {_kind(sentence)}. Give strings only.")
        if len(sentence) > LONGEST_SENTENCE:
            raise DataError(f"{where}: sentence {place} {TOO_LONG}")
        if not sentence.strip():
            raise DataError(f"{where}: sentence {place} is empty. Remove it or give its text.")
        if not sentence.isascii() and any("\ud800" <= letter <= "\udfff" for letter in sentence):
            raise DataError(f"{where}: sentence {place} holds half a character. Save the file as UTF-8.")
    if sum(map(len, sentences)) > LARGEST_DOCUMENT:
        raise DataError(f"{where}: {TOO_LARGE}")
    return Document.from_sentences(sentences, id=_id(where, id, default_id))


def _id(where: str, id: object, default: str) -> str:
    if id is None or id == "":
        return default
    if isinstance(id, bool) or not isinstance(id, str | int):
        raise DataError(f"{where}: 'id' is not text but {_kind(id)}. Give a string.")
    return str(id).encode("utf-8", "replace").decode("utf-8")


def _kind(value: object) -> str:
    names = {type(None): "null", dict: "an object", list: "a list", bool: "true or false", int: "a number"}
    return names.get(type(value), "a number" if isinstance(value, float) else type(value).__name__)
