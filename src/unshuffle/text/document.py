"""What every later stage reads: sentences, and the nouns mentioned in them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal, get_args

from unshuffle.errors import ConfigError, DataError
from unshuffle.text.split import split_sentences

LONGEST_SENTENCE = 100_000
"""Characters; what is longer is not a sentence, and would take gigabytes to be read as one."""
LARGEST_DOCUMENT = 32_000_000
"""Characters of all sentences together."""
TOO_LONG = f"has more than {LONGEST_SENTENCE:,} characters. Split it into sentences."
TOO_LARGE = f"it has more than {LARGEST_DOCUMENT:,} characters. Divide it into documents."
OnError = Literal["raise", "skip"]


class Role(IntEnum):
    """The syntactic role of a mention; of several in one sentence the highest counts (Lai et al., 3.1)."""

    OTHER = 1
    OBJECT = 2
    SUBJECT = 3


@dataclass(frozen=True, slots=True)
class Mention:
    """A noun in a sentence."""

    word: str
    """The lowercased surface form; equal words are one entity."""
    sentence: int
    """Index of the sentence in its document."""
    role: Role


@dataclass(frozen=True, slots=True)
class Document:
    """Sentences in the order in which they were given, which says nothing about the order in which they read best."""

    sentences: tuple[str, ...]
    mentions: tuple[Mention, ...] | None = None
    """The nouns, one row a word and sentence; None where no parser has looked yet."""
    id: str = ""

    @classmethod
    def from_sentences(cls, sentences: Sequence[str], id: str = "") -> Document:
        """A document of at least one sentence that has at least one visible character."""
        if not sentences:
            raise DataError(f"document '{id}': it has no sentence. Give at least one.")
        for position, sentence in enumerate(sentences):
            if not isinstance(sentence, str):
                raise DataError(f"document '{id}': sentence {position} is not text. Give a list of strings.")
            if len(sentence) > LONGEST_SENTENCE:
                raise DataError(f"document '{id}': sentence {position} {TOO_LONG}")
            if not sentence.isascii() and any("\ud800" <= letter <= "\udfff" for letter in sentence):
                raise DataError(f"document '{id}': sentence {position} holds half a character. Give whole text.")
        if sum(map(len, sentences)) > LARGEST_DOCUMENT:
            raise DataError(f"document '{id}': {TOO_LARGE}")
        return cls(tuple(sentences), id=id)

    def permuted(self, permutation: Sequence[int]) -> Document:
        """The same document with sentence `permutation[k]` at position k."""
        position = {old: new for new, old in enumerate(permutation)}
        mentions = self.mentions
        if mentions is not None:
            mentions = tuple(replace(mention, sentence=position[mention.sentence]) for mention in mentions)
        return replace(self, sentences=tuple(self.sentences[old] for old in permutation), mentions=mentions)


DocumentLike = Document | str | Iterable[str]
"""A document, running text that is split into sentences, or sentences."""


def document_of(given: DocumentLike) -> Document:
    """A document of at least one sentence."""
    if isinstance(given, Document):
        if not given.sentences:
            raise DataError(f"document '{given.id}': it has no sentence. Give at least one.")
        return given
    if isinstance(given, str):
        return Document.from_sentences(split_sentences(given))
    if hasattr(given, "columns"):
        raise DataError("document: it is a table. Give one of its columns, such as frame['sentences'].")
    if (dimensions := getattr(given, "ndim", 1)) != 1:
        raise DataError(f"document: it is an array of {dimensions} dimensions. Give one, such as a column of it.")
    if isinstance(given, Mapping | bytes | bytearray | memoryview) or not isinstance(given, Iterable):
        raise DataError(f"document: it is of type {type(given).__name__}. Give text or a list of sentences.")
    return Document.from_sentences(list(given))


def numbered(documents: Iterable[DocumentLike], on_error: OnError = "raise") -> Iterator[tuple[int, Document]]:
    """Each document with its position in the stream; a bad one raises, or is skipped and counted in a warning."""
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
