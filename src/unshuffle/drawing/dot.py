"""A drawing of the graph in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from unshuffle.drawing.description import GraphDrawing, LinkDrawn

STYLES = {"subject": "solid", "object": "dashed", "other": "dotted"}


def dot_of(drawing: GraphDrawing) -> str:
    """One digraph; a link points from the sentence that comes first, its label tells both weights."""
    return "\n".join(["digraph unshuffle {", *(f"  {line};" for line in _lines(drawing)), "}"]) + "\n"


def _lines(drawing: GraphDrawing) -> Iterator[str]:
    yield "rankdir=LR"
    yield 'node [fontname="sans-serif", fontsize=11]'
    yield 'edge [fontname="sans-serif", fontsize=9]'
    for position, sentence in enumerate(drawing.order, 1):
        yield f"s{sentence} [shape=box, style=rounded, label={_quoted(f'{position}. {drawing.sentences[sentence]}')}]"
    for number, word in enumerate(drawing.entities):
        yield f"e{number} [shape=ellipse, label={_quoted(word)}]"
    for link in drawing.links:
        yield _link(link)
    for mention in drawing.mentions:
        yield f"e{mention.entity} -> s{mention.sentence} [dir=none, style={STYLES[mention.role]}, color=gray50]"
    for one, other in drawing.relations:
        yield f"e{one} -> e{other} [dir=none, color=purple]"


def _link(link: LinkDrawn) -> str:
    if link.after is None or link.before is None:
        return f"s{link.first} -> s{link.second} [dir=none]"
    turned = link.after < 0.5
    one, other = (link.second, link.first) if turned else (link.first, link.second)
    before, after = (1 - link.before, 1 - link.after) if turned else (link.before, link.after)
    style = "dashed" if link.undecided_after else "solid"
    return (
        f's{one} -> s{other} [label="{before:.2f} / {after:.2f}", style={style}, penwidth={1 + 4 * (after - 0.5):.2f}]'
    )


def _quoted(text: str) -> str:
    plain = " ".join(text.split()).replace("&", "&amp;")  # Graphviz reads entities in labels
    plain = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'
