"""A result as a notebook shows it: plain HTML and SVG without scripts, everything from outside escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unshuffle.result import Ordering

MOST_SENTENCES = 40
"""Sentences up to which the pair matrix and the arcs are drawn."""
ROW = 22
"""Height of a line of the arcs, in pixels."""
BEFORE, AFTER = "37, 99, 190", "200, 80, 40"
"""Colours of pairs: the sentence of the row before that of the column, or after it."""


def shortened(text: str, most: int) -> str:
    """The text on one line, cut with an ellipsis where it is longer than `most` letters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip(" ,") + "…"


def ordering_html(ordering: Ordering) -> str:
    """The order, how sure it is, what links its sentences, and the probability of every pair."""
    about = "input order kept, " if ordering.kept else ""
    heading = f"<b>{escape(ordering.id)}</b> " if ordering.id else ""
    sure = f"confidence {ordering.confidence:.2f}. {escape(ordering.headline.line)}."
    parts = [f"<div>{heading}{about}{sure}</div>", _list(ordering)]
    if 1 < len(ordering) <= MOST_SENTENCES:
        parts = [*parts[:1], f'<div style="display:flex;align-items:flex-start">{_arcs(ordering)}{parts[1]}</div>']
        parts.append(_matrix(ordering))
    return f'<div class="unshuffle">{"".join(parts)}</div>'


def _list(ordering: Ordering) -> str:
    texts = ordering.sentences if ordering.given else [f"sentence {position}" for position in ordering.order]
    style = f"line-height:{ROW}px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis"
    rows = (
        f'<div style="{style}" title="{escape(text)}"><small>{position}</small> {escape(shortened(text, 120))}</div>'
        for position, text in zip(ordering.order, texts, strict=True)
    )
    return f'<div style="text-align:left;min-width:0">{"".join(rows)}</div>'


def _arcs(ordering: Ordering) -> str:
    """The links of the model's graph beside the list, the stronger the surer; else the pairs that decided."""
    position = {sentence: number for number, sentence in enumerate(ordering.order)}
    if ordering.rounds:
        links = [(pair.first, pair.second, abs(2 * pair.probability - 1)) for pair in ordering.rounds[-1].weights]
    else:
        links = [(reason.first, reason.second, abs(2 * reason.probability - 1)) for reason in ordering.why]
    paths = []
    for first, second, strength in links:
        top, bottom = (ROW * (number + 0.5) for number in sorted((position[first], position[second])))
        reach = min(70, (bottom - top) / 2)
        paths.append(
            f'<path d="M76 {top:g} C{76 - reach:g} {top:g} {76 - reach:g} {bottom:g} 76 {bottom:g}" fill="none" '
            f'stroke="rgb({BEFORE})" stroke-opacity="{0.1 + 0.9 * strength:.2f}"/>'
        )
    return f'<svg width="84" height="{ROW * len(ordering)}" style="flex:none">{"".join(paths)}</svg>'


def _matrix(ordering: Ordering) -> str:
    """Rows and columns in reading order: how probable it is that the row's sentence comes before the column's."""
    chance = {(pair.first, pair.second): pair.probability for pair in ordering.pairs}
    chance |= {(second, first): 1 - probability for (first, second), probability in chance.items()}
    head = "".join(f"<th>{position}</th>" for position in ordering.order)
    rows = [
        f"<th>{first}</th>" + "".join(_cell(chance.get((first, second)), first, second) for second in ordering.order)
        for first in ordering.order
    ]
    return (
        '<table style="border-collapse:collapse;font-size:70%"><caption style="text-align:left">'
        "chance that the row's sentence comes before the column's</caption>"
        f"<tr><th></th>{head}</tr><tr>{'</tr><tr>'.join(rows)}</tr></table>"
    )


def _cell(chance: float | None, first: int, second: int) -> str:
    if chance is None:
        return "<td></td>"
    colour = BEFORE if chance >= 0.5 else AFTER
    style = f"width:16px;height:16px;background:rgba({colour}, {abs(2 * chance - 1):.2f})"
    return f'<td style="{style}" title="{first} before {second}: {chance:.2f}"></td>'
