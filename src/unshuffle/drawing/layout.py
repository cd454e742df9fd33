"""Where everything stands in a picture of the graph.

Sentences stand in a column in reading order. To their left the links, once with the weights before refinement and once
after; to their right the entities. A link that agrees with the order has one colour, one against it another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from unshuffle.drawing.description import GraphDrawing, LinkDrawn
from unshuffle.drawing.shapes import INK, PAPER, SOFT, Box, Curve, Picture, Shape, Words, columns, wrapped

AGREES, AGAINST, UNDECIDED = "#1b6ca8", "#d1495b", "#a9b3bd"
ROLES = {"subject": "#2a7f62", "object": "#b7791f", "other": "#8a94a0"}
RELATION = "#7a5ea8"
ROW, TOP, EDGE, CARD, GAP, CHARACTERS = 66.0, 92.0, 28.0, 400.0, 120.0, 54
NUMBER = 13.0
"""Radius of a sentence's number."""
LABELLED = 24
"""Links up to which weights are written beside the curves."""


def picture_of(drawing: GraphDrawing) -> Picture:
    """Everything in its place."""
    rows = len(drawing.order)
    panels = 2 if drawing.rounds else 1
    bulge = min(230.0, 60.0 + 26.0 * max(rows - 1, 1))
    column = EDGE + panels * (bulge + 2 * NUMBER) + (panels - 1) * 34
    entities_at = column + 22 + CARD + GAP
    width = entities_at + (190 if drawing.entities else -GAP) + EDGE
    height = TOP + max(rows, len(drawing.entities) * 34 / ROW) * ROW + 50
    shapes: list[Shape] = []
    for panel in range(panels):
        at = EDGE + (panel + 1) * (bulge + 2 * NUMBER) + panel * 34 - NUMBER
        shapes += _panel(drawing, at, bulge, after=panel == panels - 1)
    if drawing.entities:
        shapes += _entities(drawing, column + 22 + CARD, entities_at, height)
    shapes += _cards(drawing, column + 22)
    shapes += _legend(drawing, height - 22)
    return Picture(width, height, tuple(shapes), drawing.title)


def _panel(drawing: GraphDrawing, at: float, bulge: float, *, after: bool) -> Iterator[Shape]:
    """Numbers in a column, links as curves to their left."""
    position = {sentence: row for row, sentence in enumerate(drawing.order)}
    title = "Links" if not drawing.rounds else "After refinement" if after else "Before refinement"
    note = "" if not drawing.rounds else f"{drawing.rounds} rounds" if after else "initial classifier"
    note = "initial classifier only" if drawing.rounds == 1 and after else note
    yield Words(at + NUMBER, 38, title, 15, INK, "end", bold=True)
    yield Words(at + NUMBER, 57, note, 11.5, SOFT, "end")
    weights = [(link, link.after if after else link.before) for link in drawing.links]
    # The sure ones last, so that they lie on top.
    weights.sort(key=lambda pair: abs((0.5 if pair[1] is None else pair[1]) - 0.5))
    labels = []
    thin = min(1.0, (LABELLED / max(len(weights), 1)) ** 0.5)  # many links must not grow into one blot
    for link, weight in weights:
        curve, label = _link(link, weight, position, at, bulge, after=after)
        yield replace(curve, width=max(0.6, curve.width * thin))
        labels.append(label)
    if len(drawing.links) <= LABELLED:
        yield from (label for label in labels if label.text)
    for sentence, row in position.items():
        y = _y(row)
        yield Box(at - NUMBER, y - NUMBER, 2 * NUMBER, 2 * NUMBER, INK, INK, NUMBER)
        yield Words(at, y + 4.2, str(sentence + 1), 12, PAPER, "middle", bold=True)


def _link(
    link: LinkDrawn, weight: float | None, position: dict[int, int], at: float, bulge: float, *, after: bool
) -> tuple[Curve, Words]:
    """The curve from the sentence that comes first, by this weight, to the other."""
    undecided = link.undecided_after if after else link.undecided_before
    one, other = link.first, link.second
    chance = 0.5 if weight is None else weight
    if chance < 0.5:
        one, other, chance = other, one, 1 - chance
    start, end = _y(position[one]), _y(position[other])
    open_link = weight is None or undecided or chance == 0.5
    color = UNDECIDED if open_link else AGREES if start < end else AGAINST
    far = abs(position[one] - position[other])
    reach = 16 + (bulge - 16) * (far / max(len(position) - 1, 1)) ** 0.8
    edge = at - NUMBER - 1
    nudge = 4 if start < end else -4
    points = ((edge, start + nudge), (edge - reach * 1.3, start), (edge - reach * 1.3, end), (edge, end - nudge))
    said = "" if weight is None else f"{chance:.2f}"
    curve = Curve(
        points,
        color,
        1.2 if open_link else 1.2 + 3.2 * (2 * chance - 1) ** 2,
        dashes=(4, 4) if open_link and weight is not None else (),
        arrow=not open_link,
        title=f"{one + 1} before {other + 1}: {said}" if said else f"{one + 1} and {other + 1} are linked",
    )
    return curve, Words(edge - reach * 0.975, (start + end) / 2 + 3.5, said, 10.5, color, "middle", backed=True)


def _cards(drawing: GraphDrawing, x: float) -> Iterator[Shape]:
    yield Words(x, 38, "Sentences", 15, bold=True)
    yield Words(x, 57, "in the order found; numbers tell the input", 11.5, SOFT)
    for row, sentence in enumerate(drawing.order):
        y = _y(row)
        yield Box(x, y - ROW / 2 + 7, CARD, ROW - 14, "#f6f8fa")
        lines = wrapped(drawing.sentences[sentence], CHARACTERS, 2)
        for number, line in enumerate(lines):
            yield Words(x + 14, y + 4.5 + 18 * (number - (len(lines) - 1) / 2), line)


def _entities(drawing: GraphDrawing, card: float, x: float, height: float) -> Iterator[Shape]:
    position = {sentence: row for row, sentence in enumerate(drawing.order)}
    step = min(58.0, (height - TOP - 50) / len(drawing.entities))
    middle = TOP + (height - TOP - 50) / 2
    # Each near the sentences that mention it, so that few lines cross.
    rows_of: dict[int, list[int]] = {}
    for mention in drawing.mentions:
        rows_of.setdefault(mention.entity, []).append(position[mention.sentence])
    order = sorted(rows_of, key=lambda entity: (sum(rows_of[entity]) / len(rows_of[entity]), drawing.entities[entity]))
    y_of = {entity: middle + step * (row - (len(order) - 1) / 2) for row, entity in enumerate(order)}
    yield Words(x, 38, "Entities", 15, bold=True)
    yield Words(x, 57, "nouns of two or more sentences", 11.5, SOFT)
    for mention in drawing.mentions:
        start, end = _y(position[mention.sentence]), y_of[mention.entity]
        points = ((card + 1, start), (card + GAP * 0.5, start), (x - GAP * 0.5, end), (x - 1, end))
        dashes = {"subject": (), "object": (6.0, 3.0), "other": (2.0, 3.0)}[mention.role]
        word = drawing.entities[mention.entity]
        yield Curve(points, ROLES[mention.role], 1.6, dashes, title=f"{word}: {mention.role} of {mention.sentence + 1}")
    for entity, y in y_of.items():
        word = wrapped(drawing.entities[entity], 18, 1)[0]
        wide = 22 + 7.4 * columns(word)
        yield Box(x, y - 12, wide, 24, PAPER, SOFT, 12)
        yield Words(x + wide / 2, y + 4.4, word, 12.5, anchor="middle")
    for one, other in drawing.relations:
        names = drawing.entities[one], drawing.entities[other]
        start, end = (x + 22 + 7.4 * columns(wrapped(name, 18, 1)[0]) for name in names)
        out = max(start, end) + 14 + 0.12 * abs(y_of[one] - y_of[other])
        points = ((start, y_of[one]), (out, y_of[one]), (out, y_of[other]), (end, y_of[other]))
        yield Curve(points, RELATION, 1.3, (1.5, 2.5), title=f"{names[0]} and {names[1]} are related")


def _legend(drawing: GraphDrawing, y: float) -> Iterator[Shape]:
    samples: list[tuple[str, str, tuple[float, ...]]] = []
    if drawing.rounds:
        samples += [("as the order has it", AGREES, ()), ("against it", AGAINST, ()), ("undecided", UNDECIDED, (4, 4))]
    if drawing.entities:
        samples += [
            ("subject", ROLES["subject"], ()),
            ("object", ROLES["object"], (6, 3)),
            ("other", ROLES["other"], (2, 3)),
        ]
    if drawing.relations:
        samples.append(("related", RELATION, (1.5, 2.5)))
    x = EDGE
    for text, color, dashes in samples:
        yield Curve(((x, y), (x + 8, y), (x + 16, y), (x + 24, y)), color, 2.0, dashes)
        yield Words(x + 31, y + 4, text, 11.5, SOFT)
        x += 31 + 6.3 * len(text) + 22


def _y(row: int) -> float:
    return TOP + ROW * (row + 0.5)
