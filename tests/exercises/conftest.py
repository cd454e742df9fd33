"""A model that costs nothing: it knows "s1", "s2", ... but is sure of few of them only."""

from collections.abc import Iterable, Iterator, Sequence

import pytest

from unshuffle.result import Candidate, Ordering, PairProbability
from unshuffle.text.document import Document


class Unsure:
    """Finds the right order of "s1", "s2", ... but is sure only of four items or fewer; the first two may swap."""

    def order_many(
        self, documents: Iterable[Document | Sequence[str]], options: object | None = None
    ) -> Iterator[Ordering]:
        for document in documents:
            sentences = document.sentences if isinstance(document, Document) else tuple(document)
            best = tuple(sorted(range(len(sentences)), key=lambda place: sentences[place]))
            other = (best[1], best[0], *best[2:])
            first, second = (0.9, 0.05) if len(sentences) <= 4 else (0.4, 0.38)
            low, high = sorted(best[:2])
            pairs = (PairProbability(low, high, 0.48 if low == best[0] else 0.52),)
            yield Ordering("", best, first, first, pairs, (), (Candidate(best, first), Candidate(other, second)))


@pytest.fixture
def unsure() -> Unsure:
    return Unsure()
