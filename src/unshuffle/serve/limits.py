"""What one request may ask for, checked before the model sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unshuffle.errors import ConfigError, DataError
from unshuffle.rank.constraints import Constraints
from unshuffle.serve.requests import OrderRequest, Sentences
from unshuffle.serve.settings import Limits
from unshuffle.text.language import language_warnings
from unshuffle.text.split import split_sentences


@dataclass(frozen=True, slots=True)
class Text:
    """A document as it was sent."""

    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    """What the reader of the answer should know about it."""


def read_text(asked: Sentences, limits: Limits, where: str = "") -> Text:
    """The document that a request gives; may take a moment."""
    sentences = read_sentences(asked.sentences, asked.text, asked.split, limits, where)
    return Text(sentences, language_warnings(sentences))


def read_sentences(
    sentences: Sequence[str] | None, text: str | None, split: str, limits: Limits, where: str = ""
) -> tuple[str, ...]:
    """The sentences that a request gives, as a list or as running text."""
    if sentences is not None and text is not None:
        raise DataError(f"{where}sentences: they came together with 'text'. Give one of the two.")
    if sentences is None:
        if text is None:
            raise DataError(f"{where}sentences: they are missing. Give 'sentences', a list, or 'text'.")
        # Before it is split: no text that is longer can have sentences within the limits.
        if len(text) > (most := limits.sentences * limits.characters):
            raise DataError(f"{where}text: {len(text)} characters are too many. Give at most {most}.")
        sentences = _lines(text) if split == "lines" else split_sentences(text)
        if not sentences:
            raise DataError(f"{where}text: it has no sentence. Give at least one.")
    check_sentences(sentences, limits, where)
    return tuple(sentences)


def check_sentences(sentences: Sequence[str], limits: Limits, where: str = "") -> None:
    """Refuse a document that is empty or larger than allowed."""
    if not sentences:
        raise DataError(f"{where}sentences: there is none. Give at least one.")
    if len(sentences) > limits.sentences:
        raise DataError(f"{where}sentences: {len(sentences)} are too many. Give at most {limits.sentences}.")
    for index, sentence in enumerate(sentences):
        if not sentence.strip():
            raise DataError(f"{where}sentences[{index}]: it is blank. Leave it out or give it words.")
        if len(sentence) > limits.characters:
            raise DataError(
                f"{where}sentences[{index}]: {len(sentence)} characters are too many. Give at most {limits.characters}."
            )
        if (words := len(sentence.split())) > limits.words:
            raise DataError(f"{where}sentences[{index}]: {words} words are too many. Give at most {limits.words}.")


def read_constraints(asked: OrderRequest, sentences: int) -> Constraints | None:
    """What the request knows of the order beforehand, refused here where no order can be like that."""
    if not (asked.before or asked.fixed or asked.sources):
        return None
    before, fixed = ([(one, other) for one, other in rows] for rows in (asked.before, asked.fixed))
    last = sentences - 1
    for name, rows in (("before", before), ("fixed", fixed)):
        for number, row in enumerate(rows):
            if not all(0 <= index <= last for index in row):
                raise DataError(f"{name}[{number}]: it is out of range. Give numbers from 0 to {last}.")
    constraints = Constraints(tuple(before), tuple(fixed), tuple(asked.sources))
    try:
        constraints.rules(sentences)
    except ConfigError as error:
        given = [name for name in ("before", "fixed", "sources") if getattr(asked, name)]
        raise DataError(str(error).replace("constraints:", f"{' and '.join(given)}:", 1)) from None
    return constraints


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
