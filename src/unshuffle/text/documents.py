"""Documents in whatever form users have them: text, lists of sentences, columns of a table."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, get_args

from unshuffle.errors import ConfigError, DataError
from unshuffle.text.document import Document
from unshuffle.text.split import split_sentences

DocumentLike = Document | str | Iterable[str]
"""A document, running text that is split into sentences, or sentences."""
OnError = Literal["raise", "skip"]


def document_of(given: DocumentLike) -> Document:
    """A document of at least one sentence."""
    if isinstance(given, Document):
        if not given.sentences:
            raise DataError(f"document '{given.id}': it has no sentence. Give at least one.")
        return given
    if isinstance(given, str):
        return Document.from_sentences(split_sentences(given))
    if isinstance(given, Mapping | bytes) or not isinstance(given, Iterable):
        raise DataError(f"document: it is of type {type(given).__name__}. Give text or a list of sentences.")
    return Document.from_sentences(list(given))


def numbered(documents: Iterable[DocumentLike], on_error: OnError = "raise") -> Iterator[tuple[int, Document]]:
    """Each document with its place in the stream, from 0; a bad one raises, or is skipped and counted in a warning."""
    if isinstance(documents, str | Document):
        raise ConfigError("order_many: it was given one document. Give a list of documents, or call `order`.")
    if hasattr(documents, "columns"):
        raise ConfigError("order_many: it was given a table. Give one of its columns, such as frame['sentences'].")
    if on_error not in get_args(OnError):
        raise ConfigError(f"order_many: on_error is '{on_error}'. Give 'raise' or 'skip'.")
    return _numbered(documents, on_error)


def _numbered(documents: Iterable[DocumentLike], on_error: OnError) -> Iterator[tuple[int, Document]]:
    skipped: list[str] = []
    count = 0
    for number, given in enumerate(documents):
        count += 1
        try:
            found = document_of(given)
        except DataError as error:
            id = given.id if isinstance(given, Document) else ""
            reason = str(error).removeprefix(f"document '{id}': ").removeprefix("document: ")
            message = f"document {number} (id '{id}'): {reason}" if id else f"document {number}: {reason}"
            if on_error == "raise":
                raise DataError(message) from None
            skipped.append(message)
        else:
            yield number, found
    if skipped:
        message = f"{len(skipped)} of {count} documents were skipped; the first is {skipped[0]}"
        warnings.warn(message, UserWarning, stacklevel=4)  # where the results are read
