"""What callers of `order` and `order_many` give, looked at before it is read as documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from unshuffle.errors import ConfigError, DataError
from unshuffle.text.document import Document, DocumentLike, document_of


def one_document(given: DocumentLike) -> Document:
    """A document; several at once, and sentences that have no numbers, are refused."""
    if isinstance(given, set | frozenset):
        raise DataError("document: it is a set, whose sentences have no numbers. Give a list.")
    if isinstance(given, list | tuple) and given and all(isinstance(one, list | tuple | Document) for one in given):
        raise DataError("document: it is a list of documents. Give a list of strings, or call `order_many`.")
    try:
        return document_of(given)
    except DataError as error:
        raise DataError(str(error).replace("document '': ", "document: ", 1)) from None


def check_stream(documents: object) -> None:
    """Refuses what cannot be gone through document by document."""
    if isinstance(documents, Mapping):
        raise ConfigError("order_many: it was given a mapping. Give a list of documents, such as its values.")
    if not isinstance(documents, Iterable) and not hasattr(documents, "__getitem__"):
        kind = type(documents).__name__
        raise ConfigError(f"order_many: it was given something of type {kind}. Give a list of documents.")


def all_strings(documents: object) -> bool:
    """Whether this is a list of plain strings, each of which is read as running text."""
    return isinstance(documents, list | tuple) and all(isinstance(one, str) for one in documents)
