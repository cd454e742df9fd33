"""Exercises as a Word document, which teachers can edit."""

from __future__ import annotations

import io
from typing import Any

from unshuffle.errors import MissingExtra
from unshuffle.exercises.exercise import Exercise, label
from unshuffle.exercises.sheet import INSTRUCTION, Booklet, answer, blanks, notes, printable

try:
    from docx import Document
    from docx.enum.text import WD_TAB_ALIGNMENT, WD_TAB_LEADER
    from docx.shared import Cm, Pt
except ImportError:
    raise MissingExtra("A Word document", "exercises") from None

BLANK, LABEL, TEXT = 1.4, 1.7, 2.6
"""Centimetres from the left: end of the line to write on, letter, sentence."""


def write(booklet: Booklet) -> bytes:
    """A page per sheet, and the answer key on pages of its own."""
    document = Document()
    section = document.sections[0]
    section.page_width, section.page_height = Cm(21.0), Cm(29.7)
    section.left_margin = section.right_margin = section.top_margin = section.bottom_margin = Cm(2.2)
    document.styles["Normal"].font.name = "Times New Roman"
    document.styles["Normal"].font.size = Pt(12)
    document.core_properties.title = printable(booklet.title)
    document.core_properties.author = ""
    numbered = list(enumerate(booklet.exercises, 1))
    for number, exercise in numbered if booklet.sheets else []:
        _sheet(document, exercise, booklet.numbered(booklet.title, number), first=number == 1)
    for number, exercise in numbered if booklet.key else []:
        new_page = number == 1 and booklet.sheets
        _key(document, exercise, booklet.numbered("Answer key", number), new_page=new_page)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _sheet(document: Any, exercise: Exercise, title: str, *, first: bool) -> None:
    _heading(document, title, size=18, new_page=not first)
    name = document.add_paragraph("Name:\t  Date:\t")
    for end in (10.5, 16.6):
        name.paragraph_format.tab_stops.add_tab_stop(Cm(end), WD_TAB_ALIGNMENT.LEFT, WD_TAB_LEADER.LINES)
    name.paragraph_format.space_after = Pt(16)
    document.add_paragraph(INSTRUCTION).paragraph_format.space_after = Pt(14)
    for position, item in enumerate(exercise.items):
        line = document.add_paragraph("\t\t")
        line.add_run(f"{label(position)}.").bold = True
        line.add_run(f"\t{printable(item)}")
        stops = line.paragraph_format.tab_stops
        stops.add_tab_stop(Cm(BLANK), WD_TAB_ALIGNMENT.LEFT, WD_TAB_LEADER.LINES)
        stops.add_tab_stop(Cm(LABEL))
        _hang(line, TEXT, after=8)


def _key(document: Any, exercise: Exercise, title: str, *, new_page: bool) -> None:
    _heading(document, f"{title}: {answer(exercise)}", size=14, new_page=new_page)
    document.add_paragraph(f"On the lines: {blanks(exercise)}")
    for position, item in enumerate(exercise.solution, 1):
        line = document.add_paragraph()
        line.add_run(f"{position}. ({label(item)})").bold = True
        line.add_run(f"\t{printable(exercise.items[item])}")
        _hang(line, 1.8, after=3)
    for note in notes(exercise):
        document.add_paragraph().add_run(printable(note)).font.size = Pt(10.5)


def _heading(document: Any, text: str, *, size: float, new_page: bool) -> None:
    paragraph = document.add_paragraph()
    run = paragraph.add_run(printable(text))
    run.bold = True
    run.font.size = Pt(size)
    paragraph.paragraph_format.page_break_before = new_page
    paragraph.paragraph_format.keep_with_next = True


def _hang(paragraph: Any, left: float, *, after: float) -> None:
    """All lines of the text begin below one another."""
    form = paragraph.paragraph_format
    form.left_indent, form.first_line_indent = Cm(left), Cm(-left)
    form.tab_stops.add_tab_stop(Cm(left))
    form.space_after = Pt(after)
    form.keep_together = True
