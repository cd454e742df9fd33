"""Changes of a paragraph that make its order clearer: a sentence is dropped, or two are merged into one item."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from unshuffle.exercises.exercise import Change, Proposal
from unshuffle.exercises.scramble import scrambles
from unshuffle.exercises.verdict import OrdersMany, verdicts
from unshuffle.steps import Steps

FEWEST = 3
"""Items below which there is nothing to put in order."""
QUOTED = 60
"""Characters of a sentence that are quoted."""


@dataclass(frozen=True, slots=True)
class Piece:
    """An item of the paragraph and the original sentences that it holds."""

    text: str
    sentences: tuple[int, ...]


Paragraph = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """A paragraph after one change."""

    change: Change
    pieces: Paragraph
    """What was changed, as it was."""
    result: Paragraph
    margin: float
    solves: bool

    @property
    def proposal(self) -> Proposal:
        """The change by the numbers of the original sentences."""
        numbers = tuple(sentence for piece in self.pieces for sentence in piece.sentences)
        return Proposal(self.change, numbers, self.margin, self.solves, tuple(piece.text for piece in self.result))


def changed(
    orderer: OrdersMany, paragraph: Paragraph, seed: int, margin: float, keep: Collection[int] = ()
) -> Steps[list[Changed]]:
    """All single changes that leave the sentences of `keep` alone; those first that solve it, then by margin."""
    if len(paragraph) <= FEWEST:
        return []
    tried = [one for one in _changes(paragraph) if not any(set(piece.sentences) & set(keep) for piece in one[1])]
    texts = [tuple(piece.text for piece in result) for _, _, result in tried]
    (shown,) = scrambles(len(paragraph) - 1, seed)
    judged = yield from verdicts(orderer, texts, shown, margin)
    found = [
        Changed(change, pieces, result, verdict.margin, verdict.unambiguous)
        for (change, pieces, result), verdict in zip(tried, judged, strict=True)
    ]
    # Of two that are as good, merging comes first: it loses no text.
    return sorted(found, key=lambda one: (not one.solves, -round(one.margin, 6), one.change == "drop"))


def in_words(change: Change, numbers: tuple[int, ...], texts: tuple[str, ...], *, done: bool) -> str:
    """A change as a sentence without its full stop, done or proposed; sentences are counted from 1."""
    names = " and ".join(str(number + 1) for number in numbers)
    quoted = " … ".join(f"“{_shortened(text)}”" for text in texts)
    if change == "drop":
        what = f"Sentence {names} was left out" if done else f"Leave out sentence {names}"
    else:
        what = f"Sentences {names} were merged into one item" if done else f"Merge sentences {names} into one item"
    return f"{what}: {quoted}"


def _changes(paragraph: Paragraph) -> Iterator[tuple[Change, Paragraph, Paragraph]]:
    for position, piece in enumerate(paragraph):
        yield "drop", (piece,), paragraph[:position] + paragraph[position + 1 :]
    for position in range(len(paragraph) - 1):
        first, second = paragraph[position : position + 2]
        joined = Piece(f"{first.text} {second.text}", first.sentences + second.sentences)
        yield "merge", (first, second), (*paragraph[:position], joined, *paragraph[position + 2 :])


def _shortened(text: str) -> str:
    text = text.rstrip(".")
    return text if len(text) <= QUOTED else text[: QUOTED - 1].rstrip() + "…"
