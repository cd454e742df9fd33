"""A stream of documents cut into windows and batches that fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unshuffle.graph.prepare import Item
from unshuffle.text.document import Document

DOCUMENTS = 256
"""Documents that are held at a time, to put those of like length into one batch."""
PAIRS = 250_000
"""Ordered pairs of sentences in one window; results hold a number for each, and 500 sentences have as many."""
CELLS = 20_000
"""Ordered pairs in one batch: the memory of encoders and search grows with them."""
WORDS = 20_000
"""Words in one batch: a word encoder keeps about 15 kB for each."""


def windows(documents: Iterable[tuple[int, Document]]) -> Iterator[list[tuple[int, Document]]]:
    """Numbered documents in groups small enough to be held whole together with their results."""
    window: list[tuple[int, Document]] = []
    pairs = 0
    for number, document in documents:
        square = len(document.sentences) ** 2
        if window and (len(window) == DOCUMENTS or pairs + square > PAIRS):
            yield window
            window, pairs = [], 0
        window.append((number, document))
        pairs += square
    if window:
        yield window


def batches(items: Sequence[Item], most: int) -> Iterator[list[int]]:
    """Numbers of documents of like length, at most `most` at a time and fewer where they are long."""
    sizes = [item.graph.sentences for item in items]
    words = [sum(map(len, item.words)) for item in items]
    by_length = sorted(range(len(items)), key=lambda number: (sizes[number], words[number]))
    start = 0
    while start < len(by_length):
        end = min(start + most, len(by_length))
        while end - start > 1 and not _fits(by_length[start:end], sizes, words):
            end = start + (end - start) // 2
        yield by_length[start:end]
        start = end


def _fits(numbers: Sequence[int], sizes: Sequence[int], words: Sequence[int]) -> bool:
    cells = len(numbers) * sizes[numbers[-1]] ** 2
    return cells <= CELLS and sum(words[number] for number in numbers) <= WORDS
