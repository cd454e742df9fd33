"""What is wrong with a request, in the service's own words: where, what, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from unshuffle.serve.requests import MOST, advice_on

EXAMPLE = '{"sentences": ["One.", "Two."]}'
NOT_UTF8 = "not UTF-8"
"""The reason given for a body in another encoding."""
LONGEST_NAME = 60
"""Characters of a field's name that are shown; it is the client's."""

WANTED = {
    "sentences": "a list of sentences, or running text as 'text'",
    "sentences[]": "text",
    "text": "running text, or a list of sentences as 'sentences'",
    "split": "'sentences' or 'lines'",
    "id": "text of at most 200 characters",
    "model": "a name that GET /v1/models lists",
    "beam": "a whole number from 1 to 64",
    "n_best": "a whole number from 1 to 20",
    "keep_if_unsure": "a number from 0 to 1, or 'auto'",
    "before": "a list of pairs such as [[0, 3]]",
    "before[]": "a pair of sentences such as [0, 3]",
    "before[][]": "the number of a sentence, counted from 0",
    "fixed": "a list of pairs such as [[0, 2]]",
    "fixed[]": "a position and a sentence, such as [0, 2]",
    "fixed[][]": "a whole number, counted from 0",
    "sources": "a list with the source of each sentence",
    "sources[]": "text, a whole number or null",
    "documents": f"a list such as [{EXAMPLE}]",
    "documents[]": f"an object such as {EXAMPLE}",
    "seed": "a whole number from 0 to 2147483648",
    "margin": "a number from 0 to 1",
    "mend": "true or false",
    "format": "'pdf' or 'docx'",
    "title": "text of at most 120 characters",
}
"""What each field takes; [] stands for an entry of a list."""

FAULTS = {
    "missing": "it is missing",
    "literal_error": "it is an unknown word",
    "greater_than_equal": "it is too small",
    "less_than_equal": "it is too large",
    "int_parsing_size": "it is too large",
    "finite_number": "it is not finite",
    "too_long": "it has too many entries",
    "too_short": "it has too few entries",
    "string_too_long": "it is too long",
    "string_too_short": "it is empty",
}
"""What is wrong, by pydantic's name for it; anything else is of the wrong kind."""


def complaint(errors: Sequence[Mapping[str, Any]], path: str) -> str:
    """One line about the first fault that pydantic found in the body of a request; what was sent is left out."""
    wrong = errors[0]
    place = wrong["loc"][1:]
    example = f'{{"documents": [{EXAMPLE}]}}' if path.endswith("/batch") else EXAMPLE
    if wrong["type"] == "json_invalid":
        reason = str(wrong.get("ctx", {}).get("error", ""))
        if reason == NOT_UTF8:
            return "body: it is not UTF-8. Encode it as UTF-8."
        at = re.search(r"line \d+ column \d+", reason)
        return f"body: it is not JSON{f' at {at[0]}' if at else ''}. Send an object such as {example}."
    if wrong["type"] == "extra_forbidden":
        where = _written((*place[:-1], str(place[-1])[:LONGEST_NAME]))
        return f"{where}: there is no such field. {advice_on(path, place)}"
    if not place:
        what = "it is empty" if wrong["type"] == "missing" else f"it is {_kind(wrong['input'])}"
        return f"body: {what}. Send an object such as {example}."
    return in_words([{**error, "loc": error["loc"][1:]} for error in errors])


def in_words(errors: Sequence[Mapping[str, Any]]) -> str:
    """One line about the first fault in a field."""
    # What may be of several kinds has a fault for each, with the name of the kind at the end of its place.
    places = [[step for step in error["loc"] if isinstance(step, int) or step in WANTED] for error in errors]
    same = [error for error, place in zip(errors, places, strict=True) if place == places[0]]
    words = (error for error in same if error["type"] == "literal_error" and isinstance(error["input"], str))
    wrong, place = next(words, same[0]), places[0]
    what = FAULTS.get(wrong["type"])
    if what is None or (wrong["type"] == "literal_error" and not isinstance(wrong["input"], str)):
        what = f"it is {_kind(wrong['input'])}"
    return f"{_written(place)}: {what}. Give {_wanted(wrong, place)}."


def _wanted(wrong: Mapping[str, Any], place: Sequence[str | int]) -> str:
    names = [number for number, step in enumerate(place) if isinstance(step, str)]
    field = "".join("[]" if isinstance(step, int) else step for step in place[names[-1] if names else 0 :])
    about = wrong.get("ctx", {})
    if wrong["type"] == "string_too_long" and field not in {"id", "model"}:
        return f"at most {about['max_length']} characters"
    if wrong["type"] in {"too_long", "too_short"} and not field.endswith("]"):
        return (
            f"at most {about.get('max_length', MOST)}"
            if wrong["type"] == "too_long"
            else f"at least {about['min_length']}"
        )
    return WANTED.get(field, "another value")


def _written(place: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")


def _kind(value: Any) -> str:
    kinds: dict[type, str] = {
        type(None): "null", bool: "true or false", int: "a number", float: "a decimal number", str: "text",
        list: "a list", dict: "an object",
    }  # fmt: skip
    return kinds.get(type(value), "of another kind")
