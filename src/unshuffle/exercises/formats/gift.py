"""Exercises as GIFT text with ordering questions, as Moodle's question type `ordering` reads them."""

from __future__ import annotations

from html import escape

from unshuffle.exercises.exercise import Exercise
from unshuffle.exercises.formats.moodle import GRADING, INSTRUCTION
from unshuffle.exercises.sheet import Booklet


def write(booklet: Booklet) -> bytes:
    """One question per paragraph, its sentences in the right order: Moodle shuffles them for each pupil."""
    questions = []
    for number, exercise in enumerate(booklet.paragraphs, 1):
        name = booklet.title if len(booklet.paragraphs) == 1 else f"{booklet.title} {number}"
        questions.append(_question(exercise, name))
    return "\n".join(questions).encode("utf-8", "replace")


def _question(exercise: Exercise, name: str) -> str:
    sentences = exercise.paragraph
    head = f"::{_name(name)}::{INSTRUCTION} {{>{len(sentences)} ALL VERTICAL {GRADING} SHOW"
    return "\n".join([head, *map(_line, sentences), "}", ""])


def _name(name: str) -> str:
    plain = _plain(name)
    for mark in "\\~=#:":  # the backslash first: the others get one
        plain = plain.replace(mark, f"\\{mark}")
    return escape(plain, quote=False)


def _line(text: str) -> str:
    """One line of HTML; GIFT's own marks are entities, since ordering questions do not undo its escapes."""
    plain = _plain(text)
    line = escape(plain.replace("//", "/ /") if plain.startswith("//") else plain, quote=False)
    return line.replace("#", "&#35;").replace("\\", "&#92;")


def _plain(text: str) -> str:
    """Without braces, which would end the question even where they are escaped."""
    return " ".join(text.split()).replace("{", "(").replace("}", ")")
