"""Exercises as Moodle XML with questions of type `ordering`: part of Moodle from 4.4 on, a plug-in before."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.sax.saxutils import escape

from unshuffle.exercises.exercise import Exercise
from unshuffle.exercises.sheet import Booklet, printable

INSTRUCTION = "Drag the sentences into the order in which they make sense."
GRADING = "RELATIVE_ALL_PREVIOUS_AND_NEXT"
"""By pairs in the right order: one sentence too far up does not make every other one wrong."""


def write(booklet: Booklet) -> bytes:
    """One question per paragraph, its sentences in the right order: Moodle shuffles them for each pupil."""
    quiz = ElementTree.Element("quiz")
    for number, exercise in enumerate(booklet.paragraphs, 1):
        name = booklet.title if len(booklet.paragraphs) == 1 else f"{booklet.title} {number}"
        quiz.append(_question(exercise, name))
    ElementTree.indent(quiz)
    content: bytes = ElementTree.tostring(quiz, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _question(exercise: Exercise, name: str) -> ElementTree.Element:
    question = ElementTree.Element("question", type="ordering")
    _text(ElementTree.SubElement(question, "name"), name)
    _text(ElementTree.SubElement(question, "questiontext", format="html"), f"<p>{INSTRUCTION}</p>")
    _text(ElementTree.SubElement(question, "generalfeedback", format="html"), "")
    settings = {
        "defaultgrade": "1",
        "penalty": "0.3333333",
        "hidden": "0",
        "layouttype": "VERTICAL",
        "selecttype": "ALL",
        "selectcount": str(len(exercise.items)),
        "gradingtype": GRADING,
        "showgrading": "SHOW",
        "numberingstyle": "none",
    }
    for setting, value in settings.items():
        ElementTree.SubElement(question, setting).text = value
    for position, sentence in enumerate(exercise.paragraph, 1):
        # The fraction is the sentence's position. The text is HTML, so its own marks are written as entities.
        answer = ElementTree.SubElement(question, "answer", fraction=str(position), format="html")
        _text(answer, escape(sentence))
    return question


def _text(parent: ElementTree.Element, text: str) -> None:
    ElementTree.SubElement(parent, "text").text = printable(text)
