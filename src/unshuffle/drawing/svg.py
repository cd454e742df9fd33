"""A picture of the graph as SVG, written by hand: it needs no library and looks the same everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from unshuffle.drawing.shapes import PAPER, Box, Curve, Picture, Shape, Words

FONT = "Inter, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif"
_UNWRITABLE = re.compile("[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg_of(picture: Picture) -> str:
    """One SVG document."""
    size = f'width="{picture.width:.0f}" height="{picture.height:.0f}"'
    view = f'viewBox="0 0 {picture.width:.0f} {picture.height:.0f}"'
    heads = sorted({shape.color for shape in picture.shapes if isinstance(shape, Curve) and shape.arrow})
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} font-family={quoteattr(FONT)} role="img">',
        f"<title>{_text(picture.title)}</title>",
        "<defs>",
        *(_arrow_head(color) for color in heads),
        "</defs>",
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
        *(_drawn(shape) for shape in picture.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _arrow_head(color: str) -> str:
    path = f'<path d="M0 0.5 L11 6 L0 11.5 Z" fill="{color}"/>'
    size = 'markerWidth="12" markerHeight="12" refX="9" refY="6" orient="auto" markerUnits="userSpaceOnUse"'
    return f'<marker id="head-{color[1:]}" {size}>{path}</marker>'


def _drawn(shape: Shape) -> str:
    if isinstance(shape, Box):
        position = f'x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}"'
        return f'<rect {position} rx="{shape.radius:.1f}" fill="{shape.fill}" stroke="{shape.stroke}"/>'
    if isinstance(shape, Words):
        return " ".join(_words(shape))
    first, *rest = (f"{x:.1f} {y:.1f}" for x, y in shape.points)
    dashes = f' stroke-dasharray="{" ".join(f"{length:g}" for length in shape.dashes)}"' if shape.dashes else ""
    head = f' marker-end="url(#head-{shape.color[1:]})"' if shape.arrow else ""
    title = f"<title>{_text(shape.title)}</title>" if shape.title else ""
    line = f'fill="none" stroke="{shape.color}" stroke-width="{shape.width:.2f}" stroke-linecap="round"'
    return f'<path d="M{first} C{", ".join(rest)}" {line}{dashes}{head}>{title}</path>'


def _words(words: Words) -> Iterator[str]:
    yield f'<text x="{words.x:.1f}" y="{words.y:.1f}" font-size="{words.size:g}" fill="{words.color}"'
    if words.anchor != "start":
        yield f'text-anchor="{words.anchor}"'
    if words.bold:
        yield 'font-weight="600"'
    if words.backed:
        yield f'paint-order="stroke" stroke="{PAPER}" stroke-width="4" stroke-linejoin="round"'
    yield f">{_text(words.text)}</text>"


def _text(text: str) -> str:
    """Text without the few characters that XML knows no way to write."""
    return escape(_UNWRITABLE.sub("", text))
