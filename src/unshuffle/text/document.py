"""What every later stage reads: sentences, and the nouns mentioned in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from unshuffle.errors import DataError

LONGEST_SENTENCE = 100_000
"""Characters; what is longer is not a sentence, and would take gigabytes to be read as one."""
LARGEST_DOCUMENT = 32_000_000
"""Characters of all sentences together."""
TOO_LONG = f"has more than {LONGEST_SENTENCE:,} characters. Split it into sentences."
TOO_LARGE = f"it has more than {LARGEST_DOCUMENT:,} characters. Divide it into documents."


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
        """The same document with sentence `permutation[k]` at place k."""
        place = {old: new for new, old in enumerate(permutation)}
        mentions = self.mentions
        if mentions is not None:
            mentions = tuple(replace(mention, sentence=place[mention.sentence]) for mention in mentions)
        return replace(self, sentences=tuple(self.sentences[old] for old in permutation), mentions=mentions)
