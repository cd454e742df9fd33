"""Exercises as a page that needs nothing else, for the browser and the printer."""

from __future__ import annotations

from html import escape

from unshuffle.exercises.exercise import Exercise, label
from unshuffle.exercises.sheet import INSTRUCTION, Booklet, answer, blanks, notes

STYLE = """
  body { font: 12pt/1.5 Georgia, "Times New Roman", serif; max-width: 42em; margin: 2em auto; padding: 0 1em;
         color: #1a1a1a; }
  h1 { font-size: 18pt; margin: 0 0 .8em; } h2 { font-size: 14pt; margin: 1.6em 0 .6em; }
  .name { display: flex; gap: 1.5em; margin: 0 0 1.5em; }
  .name span { display: flex; flex: 3; gap: .5em; } .name span + span { flex: 2; }
  .name span::after { content: ""; flex: 1; border-bottom: 1px solid #333; }
  ol { list-style: none; padding: 0; } li { display: flex; gap: .8em; margin: 0 0 1em; break-inside: avoid; }
  li b { flex: none; min-width: 1.4em; }
  .blank { flex: none; width: 2.6em; height: 1.3em; border-bottom: 1px solid #333; }
  .key b { min-width: 3.4em; } .key li { margin: 0 0 .4em; } .notes { color: #444; }
  section + section { break-before: page; border-top: 1px solid #ccc; margin-top: 3em; padding-top: 1.5em; }
  @media print { body { margin: 0 auto; } section + section { border: 0; margin: 0; padding: 0; } }
"""


def write(booklet: Booklet) -> bytes:
    """A page in UTF-8; each sheet and the answer key print on pages of their own."""
    numbered = list(enumerate(booklet.exercises, 1))
    sections = []
    if booklet.sheets:
        sections += [_sheet(exercise, booklet.numbered(booklet.title, number)) for number, exercise in numbered]
    if booklet.key:
        keys = "\n".join(_key(exercise, booklet.numbered("Answer key", number)) for number, exercise in numbered)
        sections.append(f'<section class="key">\n{keys}\n</section>')
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(booklet.title)}</title>
<style>{STYLE}</style>
</head>
<body>
{chr(10).join(sections)}
</body>
</html>
"""
    return page.encode("utf-8", "replace")


def _sheet(exercise: Exercise, title: str) -> str:
    items = "\n".join(
        f'    <li><span class="blank"></span><b>{label(position)}.</b><span>{escape(item)}</span></li>'
        for position, item in enumerate(exercise.items)
    )
    return f"""<section>
  <h1>{escape(title)}</h1>
  <p class="name"><span>Name:</span><span>Date:</span></p>
  <p>{INSTRUCTION}</p>
  <ol>
{items}
  </ol>
</section>"""


def _key(exercise: Exercise, title: str) -> str:
    items = "\n".join(
        f"    <li><b>{position}. ({label(item)})</b><span>{escape(exercise.items[item])}</span></li>"
        for position, item in enumerate(exercise.solution, 1)
    )
    remarks = "\n".join(f'  <p class="notes">{escape(note)}</p>' for note in notes(exercise))
    return f"""  <h2>{title}: {answer(exercise)}</h2>
  <p>On the lines: {blanks(exercise)}</p>
  <ol>
{items}
  </ol>
{remarks}"""
