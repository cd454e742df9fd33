"""Exercises as plain text; a form feed begins each page."""

from __future__ import annotations

from textwrap import TextWrapper, fill

from unshuffle.exercises.exercise import Exercise, label
from unshuffle.exercises.sheet import INSTRUCTION, Booklet, answer, blanks, notes

WIDTH = 78
NAME_LINE = f"Name: {'_' * 36}   Date: {'_' * 22}"


def write(booklet: Booklet) -> bytes:
    """UTF-8 text."""
    pages = []
    numbered = list(enumerate(booklet.exercises, 1))
    if booklet.sheets:
        pages += [_sheet(exercise, booklet.numbered(booklet.title, number)) for number, exercise in numbered]
    if booklet.key:
        pages.append("\n".join(_key(exercise, booklet.numbered("Answer key", number)) for number, exercise in numbered))
    return "\f\n".join(pages).encode("utf-8", "surrogatepass")


def _sheet(exercise: Exercise, title: str) -> str:
    lines = [title, "", NAME_LINE, "", fill(INSTRUCTION, WIDTH), ""]
    names = [f"{label(position)}." for position in range(len(exercise.items))]
    widest = max(map(len, names))
    for name, item in zip(names, exercise.items, strict=True):
        lines += [_hanging(f"_____  {name:<{widest}} ", item), ""]
    return "\n".join(lines)


def _key(exercise: Exercise, title: str) -> str:
    lines = [f"{title}: {answer(exercise)}", "", f"On the lines: {blanks(exercise)}", ""]
    for position, item in enumerate(exercise.solution, 1):
        lines.append(_hanging(f"{position:>2}. ({label(item)}) ", exercise.items[item]))
    return "\n".join([*lines, "", *(fill(note, WIDTH) for note in notes(exercise)), ""])


def _hanging(start: str, text: str) -> str:
    """The text beside its start, further lines below the first."""
    wrapper = TextWrapper(WIDTH, initial_indent=start, subsequent_indent=" " * len(start), break_long_words=False)
    return wrapper.fill(text)
