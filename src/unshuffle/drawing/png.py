"""A picture of the graph as PNG, by matplotlib."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from unshuffle.drawing.shapes import PAPER, Box, Curve, Picture, Words
from unshuffle.errors import MissingExtra

POINTS = 0.72
"""Points of a pixel at 100 dots an inch."""


def write_png(picture: Picture, path: Path, *, scale: float = 2.0) -> None:
    """Draws the shapes one by one; `scale` is dots a unit."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("A PNG picture", "plot") from None
    figure = Figure(figsize=(picture.width / 100, picture.height / 100), facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, picture.width), ylim=(picture.height, 0))
    axes.set_axis_off()
    for layer, shape in enumerate(picture.shapes):
        if isinstance(shape, Words):
            _words(axes, shape, layer)
        else:
            axes.add_patch(_box(shape, layer) if isinstance(shape, Box) else _curve(shape, layer))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a letter that no font has is drawn as a box
        FigureCanvasAgg(figure).print_figure(str(path), dpi=100 * scale, format="png")


def _words(axes: Any, words: Words, layer: int) -> None:
    from matplotlib.patheffects import withStroke

    anchor = {"start": "left", "middle": "center", "end": "right"}[words.anchor]
    text = axes.text(
        words.x, words.y, words.text, size=words.size * POINTS, color=words.color, ha=anchor, va="baseline",
        weight="bold" if words.bold else "normal", family="DejaVu Sans", zorder=layer, parse_math=False,
    )  # fmt: skip
    if words.backed:
        text.set_path_effects([withStroke(linewidth=3, foreground=PAPER)])


def _box(box: Box, layer: int) -> Any:
    from matplotlib.patches import Circle, FancyBboxPatch

    if box.width == box.height == 2 * box.radius:
        middle = box.x + box.radius, box.y + box.radius
        return Circle(middle, box.radius, fc=box.fill, ec=box.stroke, lw=POINTS, zorder=layer)
    inner = box.x + box.radius, box.y + box.radius
    size = max(box.width - 2 * box.radius, 0.01), max(box.height - 2 * box.radius, 0.01)
    style = f"round,pad={box.radius},rounding_size={box.radius}"
    return FancyBboxPatch(inner, *size, boxstyle=style, fc=box.fill, ec=box.stroke, lw=POINTS, zorder=layer)


def _curve(curve: Curve, layer: int) -> Any:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Outline

    outline = Outline(list(curve.points), [Outline.MOVETO, Outline.CURVE4, Outline.CURVE4, Outline.CURVE4])
    width = curve.width * POINTS
    # matplotlib counts dashes in line widths.
    style: Any = (0, tuple(length / curve.width for length in curve.dashes)) if curve.dashes else "solid"
    return FancyArrowPatch(
        path=outline, arrowstyle="-|>,head_width=3,head_length=5" if curve.arrow else "-", color=curve.color,
        lw=width, linestyle=style, zorder=layer, capstyle="butt" if curve.dashes else "round",
        mutation_scale=1.0, shrinkA=0, shrinkB=0, fill=curve.arrow,
    )  # fmt: skip
