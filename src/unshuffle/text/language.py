"""What is said about text in a language that the models do not know, the same wherever text comes in."""

from __future__ import annotations

from collections.abc import Sequence

from unshuffle.text.split import looks_english

NOT_ENGLISH = "The text does not look like English, the only language the models know. Do not rely on the answer."


def language_warnings(sentences: Sequence[str]) -> tuple[str, ...]:
    """Reasons, in the language of the sentences, not to rely on what a model says of them."""
    return () if looks_english(sentences) else (NOT_ENGLISH,)
