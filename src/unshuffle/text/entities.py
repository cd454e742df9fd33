"""Which nouns of a document are its entities (Yin et al., 2019; Lai et al., 3.1)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from annotated_types import Ge

from unshuffle.errors import DataError
from unshuffle.storage.files import Read, write_text
from unshuffle.text.document import Document, Mention


@dataclass(frozen=True, kw_only=True)
class EntityRule:
    """What a noun needs to be an entity."""

    minimum_count: Annotated[int, Ge(0)] = 0
    """Sentences of the counted corpus that mention it; 0 for no counting, 21 for the rule behind the NIPS files."""
    minimum_sentences: Annotated[int, Ge(1)] = 2
    """Sentences of the document that mention it."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A word and the sentences of a document that mention it."""

    word: str
    mentions: tuple[Mention, ...]
    """Sorted by sentence, each sentence once."""


@dataclass(frozen=True, slots=True)
class EntityVocabulary:
    """The words that may be entities."""

    words: frozenset[str] | None = None
    """None where any noun may."""

    @classmethod
    def from_counts(cls, counts: Counter[str], rule: EntityRule) -> EntityVocabulary:
        """The words that a corpus mentions often enough."""
        if rule.minimum_count == 0:
            return cls()
        return cls(frozenset(word for word, count in counts.items() if count >= rule.minimum_count))

    @classmethod
    def read(cls, file: str | os.PathLike[str], *, read: Read = Path.read_bytes) -> EntityVocabulary:
        """The words of a file, one a line; a file of one empty line stands for any noun."""
        try:
            lines = read(Path(file)).decode("utf-8").split("\n")
        except UnicodeDecodeError:
            raise DataError(f"{file}: it is not UTF-8 text. Write the entities again.") from None
        except OSError as error:
            raise DataError(f"{file}: it cannot be read ({error.strerror}). Give a list of entities.") from None
        return cls() if lines == ["", ""] else cls(frozenset(line for line in lines if line))

    def write(self, file: str | os.PathLike[str]) -> None:
        """The reverse of `read`; the file is there whole or not at all."""
        text = "\n" if self.words is None else "".join(f"{word}\n" for word in sorted(self.words))
        write_text(Path(file), text)

    def allows(self, word: str) -> bool:
        """Whether the word may be an entity."""
        return self.words is None or word in self.words


def count_nouns(documents: Iterable[Document]) -> Counter[str]:
    """For each noun, how many sentences of a corpus mention it."""
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update(mention.word for mention in _mentions(document))
    return counts


def entities_of(document: Document, rule: EntityRule, vocabulary: EntityVocabulary | None = None) -> tuple[Entity, ...]:
    """A document's entities, sorted by word, since any order of the text would tell of its gold order."""
    found: dict[str, dict[int, Mention]] = {}
    for mention in _mentions(document):
        if vocabulary is None or vocabulary.allows(mention.word):
            rows = found.setdefault(mention.word, {})
            known = rows.get(mention.sentence)
            if known is None or mention.role > known.role:
                rows[mention.sentence] = mention
    return tuple(
        Entity(word, tuple(rows[sentence] for sentence in sorted(rows)))
        for word, rows in sorted(found.items())
        if len(rows) >= rule.minimum_sentences
    )


def _mentions(document: Document) -> tuple[Mention, ...]:
    if document.mentions is None:
        raise DataError(f"document '{document.id}': its nouns are not known. Run a parser over it first.")
    return document.mentions
