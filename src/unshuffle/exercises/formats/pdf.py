"""Exercises as a PDF on A4 paper."""

from __future__ import annotations

from typing import Any

from unshuffle.errors import DataError, MissingExtra
from unshuffle.exercises.exercise import Exercise, label
from unshuffle.exercises.sheet import INSTRUCTION, Booklet, answer, blanks, notes, printable

try:
    from fpdf import FPDF
except ImportError:
    raise MissingExtra("A PDF", "exercises") from None

MARGIN, BLANK, LABEL = 22.0, 14.0, 10.0
"""Millimetres: of the page, the line to write on, and the letter after it."""
LINE, GAP = 6.2, 3.0
"""Millimetres: height of a line, and space between items."""
ENCODING = "cp1252"
"""What the fonts that every PDF reader has can show."""


def write(booklet: Booklet) -> bytes:
    """A page per sheet, and the answer key on pages of its own."""
    pdf = FPDF(format="A4")
    pdf.core_fonts_encoding = ENCODING
    pdf.set_margin(MARGIN)
    pdf.set_auto_page_break(True, MARGIN)
    pdf.set_title(_shown(booklet.title))
    numbered = list(enumerate(booklet.exercises, 1))
    for number, exercise in numbered if booklet.sheets else []:
        pdf.add_page()
        _sheet(pdf, exercise, booklet.numbered(booklet.title, number))
    if booklet.key:
        pdf.add_page()
        for number, exercise in numbered:
            _key(pdf, exercise, booklet.numbered("Answer key", number))
    return bytes(pdf.output())


def _sheet(pdf: FPDF, exercise: Exercise, title: str) -> None:
    _paragraph(pdf, title, size=18, style="B", after=6)
    _name_line(pdf)
    _paragraph(pdf, INSTRUCTION, after=5)
    for position, item in enumerate(exercise.items):
        _keep_together(pdf, item)
        _line_to_write_on(pdf, BLANK)
        _beside(pdf, BLANK + 3, LABEL, f"{label(position)}.", item)
        pdf.ln(GAP)


def _key(pdf: FPDF, exercise: Exercise, title: str) -> None:
    _paragraph(pdf, f"{title}: {answer(exercise)}", size=14, style="B", after=3)
    _paragraph(pdf, f"On the lines: {blanks(exercise)}", after=3)
    for position, item in enumerate(exercise.solution, 1):
        _beside(pdf, 0, 2 * LABEL, f"{position}. ({label(item)})", exercise.items[item])
        pdf.ln(1)
    pdf.ln(3)
    for note in notes(exercise):
        _paragraph(pdf, note, size=10.5, after=2)
    pdf.ln(8)


def _paragraph(pdf: FPDF, text: str, *, size: float = 12, style: str = "", after: float) -> None:
    pdf.set_font("Times", style, size)
    pdf.multi_cell(0, LINE * size / 12, _shown(text), align="L", new_x="LMARGIN", new_y="NEXT")
    pdf.ln(after)


def _name_line(pdf: FPDF) -> None:
    pdf.set_font("Times", "", 12)
    for name, share in (("Name:", 0.62), ("Date:", 0.38)):
        end = pdf.get_x() + share * pdf.epw
        pdf.cell(pdf.get_string_width(name) + 4, LINE, name)
        _line_to_write_on(pdf, end - pdf.get_x() - (6 if name == "Name:" else 0))
        pdf.set_x(end)
    pdf.ln(LINE + 5)


def _keep_together(pdf: FPDF, item: str) -> None:
    """Begins a page where an item would not fit on the rest of this one."""
    width = pdf.epw - BLANK - 3 - LABEL
    height: Any = pdf.multi_cell(width, LINE, _shown(item), dry_run=True, output="HEIGHT")
    if pdf.will_page_break(height) and height < pdf.eph:
        pdf.add_page()


def _line_to_write_on(pdf: FPDF, width: float) -> None:
    x, y = pdf.get_x() + pdf.c_margin, pdf.get_y() + LINE - 1
    pdf.line(x, y, x + width - pdf.c_margin, y)


def _beside(pdf: FPDF, start: float, width: float, name: str, text: str) -> None:
    """A name in bold and the text beside it, all of whose lines begin below one another."""
    pdf.set_x(MARGIN + start)
    pdf.set_font("Times", "B", 12)
    pdf.cell(width, LINE, name)
    pdf.set_font("Times", "", 12)
    pdf.multi_cell(0, LINE, _shown(text), align="L", new_x="LMARGIN", new_y="NEXT")


def _shown(text: str) -> str:
    text = printable(text)
    try:
        text.encode(ENCODING)
    except UnicodeEncodeError as error:
        letter = text[error.start]
        raise DataError(
            f"exercise: the fonts of a PDF have no '{letter}' (U+{ord(letter):04X}). "
            "Write docx, or html and print that."
        ) from None
    return text
