"""Reasons not to rely on an order, and how Python users come to see them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence

from unshuffle.errors import Doubt
from unshuffle.result import Ordering
from unshuffle.text.language import language_warnings

INSIDE = ("unshuffle", "tqdm")
"""Packages whose lines no user wrote."""
MANY = 60
"""Sentences beyond which an order means little; beyond about twenty it is a guided guess already."""


def doubts(sentences: Sequence[str]) -> tuple[str, ...]:
    """What speaks, in the sentences alone, against relying on any order of them."""
    return (*language_warnings(sentences), *other_doubts(sentences))


def other_doubts(sentences: Sequence[str]) -> tuple[str, ...]:
    """The same without what is said of the language."""
    found = []
    if len(sentences) > MANY:
        found.append(
            f"The text has {len(sentences)} sentences, and an order of more than {MANY} means little. "
            "Divide it into parts."
        )
    blank = next((number for number, sentence in enumerate(sentences) if not sentence.strip()), None)
    if blank is not None:
        found.append(f"Sentence {blank}, counted from 0, is blank, and its place means nothing. Leave it out.")
    broken = next((number for number, sentence in enumerate(sentences) if "\0" in sentence), None)
    if broken is not None:
        found.append(f"Sentence {broken}, counted from 0, has a NUL character in it. Check where it comes from.")
    return tuple(found)


def tell(ordering: Ordering) -> None:
    """Raises a result's warnings at the line that asked for it."""
    named = f"document '{ordering.id}': " if ordering.id else ""
    for warning in ordering.warnings:
        _warn(f"{named}{warning}")


def with_single_sentences_told(results: Iterable[Ordering]) -> Iterator[Ordering]:
    """Results of plain strings; where each was one sentence, sentences were probably given for documents."""
    texts = sentences = 0
    for ordering in results:
        texts += 1
        sentences += len(ordering)
        yield ordering
    if 1 < texts == sentences:
        _warn(
            f"order_many: each of the {texts} texts was taken as a document, and has one sentence. If they are the "
            "sentences of one document, call `order`."
        )


def _warn(message: str) -> None:
    """A warning at the line outside this package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, Doubt, stacklevel=level)
