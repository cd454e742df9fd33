"""Plain shapes that any writer can put on paper."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

INK, SOFT, PALE, PAPER = "#1f2933", "#66727f", "#d9dfe5", "#ffffff"


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text."""

    x: float
    y: float
    text: str
    size: float = 13.0
    color: str = INK
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False
    backed: bool = False
    """Whether paper shows behind it, to stay legible on lines."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rounded rectangle."""

    x: float
    y: float
    width: float
    height: float
    fill: str = PAPER
    stroke: str = PALE
    radius: float = 8.0


@dataclass(frozen=True, slots=True)
class Curve:
    """A cubic curve, maybe with an arrow at its end."""

    points: tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float]]
    color: str
    width: float
    dashes: tuple[float, ...] = ()
    arrow: bool = False
    title: str = ""


Shape = Words | Box | Curve


@dataclass(frozen=True, slots=True)
class Picture:
    """Shapes, those behind first."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    title: str


def columns(text: str) -> int:
    """How wide a text is in letters; letters of East Asia count twice, marks that join not at all."""
    return sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else 0 if unicodedata.combining(letter) else 1
        for letter in text
    )


def wrapped(text: str, width: int, lines: int) -> list[str]:
    """At most `lines` lines of `width` columns; what does not fit ends in an ellipsis."""
    found = [""]
    words = text.split()
    for number, word in enumerate(words):
        longer = f"{found[-1]} {word}".strip()
        if columns(longer) <= width:
            found[-1] = longer
        elif len(found) < lines and found[-1] and columns(word) <= width:
            found.append(word)
        else:
            rest = f"{found[-1]} {' '.join(words[number : number + width])}".strip()[: 2 * width]
            while columns(rest) > width - 1:
                rest = rest[:-1]
            found[-1] = rest.rstrip() + "…"
            break
    return found
