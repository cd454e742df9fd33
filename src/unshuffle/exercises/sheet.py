"""An exercise on paper: as plain text, or as a page to print with the answer key on a sheet of its own."""

from __future__ import annotations

from html import escape
from string import ascii_uppercase

from unshuffle.exercises.make import Exercise

INSTRUCTION = "Put the sentences in the order in which they make sense. Write the number before each."
STYLE = """
  body { font: 12pt/1.5 Georgia, serif; max-width: 42em; margin: 2em auto; padding: 0 1em; color: #1a1a1a; }
  h1 { font-size: 18pt; margin: 0 0 .2em; } .meta { color: #555; margin: 0 0 1.5em; }
  ol { list-style: none; padding: 0; } li { display: flex; gap: .8em; margin: 0 0 1em; break-inside: avoid; }
  li b { flex: none; } .box { flex: none; width: 2.2em; border-bottom: 1px solid #333; }
  .key { break-before: page; border-top: 1px solid #ccc; margin-top: 3em; padding-top: 1.5em; }
  @media print { .key { border: 0; margin: 0; } }
"""


def label(item: int) -> str:
    """A, B, ... Z, AA, AB, ..."""
    letters = ""
    item += 1
    while item:
        item, rest = divmod(item - 1, len(ascii_uppercase))
        letters = ascii_uppercase[rest] + letters
    return letters


def answer(exercise: Exercise) -> str:
    """The labels in reading order."""
    return " ".join(label(item) for item in exercise.solution)


def sheet_text(exercise: Exercise, title: str = "Put the sentences in order") -> str:
    """Plain text; a form feed keeps the answer key on another page."""
    lines = [title, f"Difficulty: {exercise.difficulty}", "", INSTRUCTION, ""]
    lines += [f"____  {label(place)}. {item}" for place, item in enumerate(exercise.items)]
    lines += ["\f", f"Answer key: {answer(exercise)}", ""]
    lines += [f"{place}. ({label(item)}) {exercise.items[item]}" for place, item in enumerate(exercise.solution, 1)]
    lines += ["", _note(exercise)]
    return "\n".join(lines) + "\n"


def sheet_html(exercise: Exercise, title: str = "Put the sentences in order") -> str:
    """A page that needs nothing else, for the printer."""
    items = "\n".join(
        f'    <li><span class="box"></span><b>{label(place)}.</b><span>{escape(item)}</span></li>'
        for place, item in enumerate(exercise.items)
    )
    key = "\n".join(
        f"    <li><b>{place}. ({label(item)})</b><span>{escape(exercise.items[item])}</span></li>"
        for place, item in enumerate(exercise.solution, 1)
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<section>
  <h1>{escape(title)}</h1>
  <p class="meta">Difficulty: {exercise.difficulty}</p>
  <p>{INSTRUCTION}</p>
  <ol>
{items}
  </ol>
</section>
<section class="key">
  <h1>Answer key: {answer(exercise)}</h1>
  <ol>
{key}
  </ol>
  <p class="meta">{escape(_note(exercise))}</p>
</section>
</body>
</html>
"""


def _note(exercise: Exercise) -> str:
    if not exercise.unambiguous:
        return f"Not unambiguous: {exercise.reason}."
    return f"The right order leads every other by a margin of {exercise.margin:.2f} (0: none, 1: certain)."
