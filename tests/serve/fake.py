"""A model that costs nothing to load: it knows the page's examples and sorts other sentences by their first number."""

import json
import logging
import math
import re
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import unshuffle.serve
from unshuffle.errors import DataError
from unshuffle.result import (
    Candidate,
    Coherence,
    Move,
    Ordering,
    PairProbability,
    Reason,
    Round,
    SentenceGraph,
    Transition,
)
from unshuffle.steps import Steps
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document
from unshuffle.text.language import language_warnings

log = logging.getLogger("unshuffle.system.orderer")

EXAMPLES = json.loads((Path(unshuffle.serve.__file__).parent / "page" / "examples.json").read_text(encoding="utf-8"))
PLACES = {sentence: place for example in EXAMPLES for place, sentence in enumerate(example["sentences"])}
DULL = frozenset({"after", "before", "every", "began", "into", "some", "they", "that", "with", "when", "them", "then"})


class FakeOrderer:
    """Answers like an `Orderer`; a sentence with the word "poison" makes it fail, "ambiguous" unsure."""

    name = "fake"
    model = SimpleNamespace(large=False)

    def __init__(self, *, seconds_a_call: float = 0.0, seconds_a_document: float = 0.0) -> None:
        self.seconds_a_call = seconds_a_call
        self.seconds_a_document = seconds_a_document
        self.batches: list[int] = []

    @property
    def parser(self) -> "FakeOrderer":
        return self

    def mentions(self, documents: Iterable[Document]) -> list[Document]:
        return list(documents)

    def card(self) -> dict[str, Any]:
        return {"system": "fake", "trained_on": "nothing"}

    def pieces(self, sentences: Sequence[str]) -> list[int]:
        """A word, and each sign in it, is a piece."""
        return [len(re.findall(r"\w+|[^\w\s]", sentence)) for sentence in sentences]

    def order_many(
        self,
        documents: Iterable[Document | Sequence[str]],
        options: OrderOptions | None = None,
        *,
        batch_size: int = 32,
    ) -> Iterator[Ordering]:
        read = [one if isinstance(one, Document) else Document.from_sentences(one) for one in documents]
        self.batches.append(len(read))
        time.sleep(self.seconds_a_call + self.seconds_a_document * len(read))
        for document in read:
            if any("overlong" in sentence for sentence in document.sentences):
                log.warning("document '%s': the model reads %d word pieces of a sentence.", document.id, 96)
            if any("poison" in sentence for sentence in document.sentences):
                raise DataError("document: poison.")
        for document in read:
            yield _ordering(document, (options or OrderOptions()).orders)

    def coherence(self, sentences: Sequence[str]) -> Coherence:
        size = len(sentences)
        place = _places(sentences)
        loss = _inversions(place)
        transitions = tuple(
            Transition(first, first + 1, 0.9 if second == first_place + 1 else 0.4 if second > first_place else 0.08)
            for first, (first_place, second) in enumerate(pairwise(place))
        )
        moves = []
        for sentence in range(size):
            for to in range(size):
                rest = [place[other] for other in range(size) if other != sentence]
                gain = loss - _inversions([*rest[:to], place[sentence], *rest[to:]])
                if gain > 0:
                    moves.append(Move(sentence, to, float(gain)))
        moves.sort(key=lambda move: -move.gain)
        most = max(1, size * (size - 1) // 2)
        return Coherence(math.exp(-loss), float(-loss), 100 * (1 - loss / most), transitions, tuple(moves[:3]))

    def coherence_steps(self, sentences: Sequence[str]) -> Steps[Coherence]:
        yield
        return self.coherence(sentences)

    def graph(self, sentences: Sequence[str]) -> SentenceGraph:
        words = [dict.fromkeys(re.findall(r"[a-z]{4,}", sentence.lower())) for sentence in sentences]
        count: dict[str, int] = {}
        for own in words:
            for word in own:
                count[word] = count.get(word, 0) + 1
        entities = [word for word, times in count.items() if times > 1 and word not in DULL]
        roles = ("subject", "object", "other")
        mentions = tuple(
            (entity, sentence, roles[min(2, list(own).index(word) // 2)])
            for entity, word in enumerate(entities)
            for sentence, own in enumerate(words)
            if word in own
        )
        links = tuple((first, second) for second in range(len(sentences)) for first in range(second))
        return SentenceGraph(len(sentences), tuple(entities), mentions, links)


class Reversed(FakeOrderer):
    """A model that has it the other way round."""

    name = "reversed"

    def order_many(
        self,
        documents: Iterable[Document | Sequence[str]],
        options: OrderOptions | None = None,
        *,
        batch_size: int = 32,
    ) -> Iterator[Ordering]:
        for found in super().order_many(documents, options, batch_size=batch_size):
            yield replace(found, order=found.order[::-1])


def _ordering(document: Document, n_best: int) -> Ordering:
    place = _places(document.sentences)
    size = len(place)
    best = tuple(sorted(range(size), key=place.__getitem__))
    unsure = any("ambiguous" in sentence for sentence in document.sentences)
    top = 1.0 if size == 1 else 0.36 if unsure else 0.71
    candidates = [Candidate(best, top)]
    for swap in range(min(n_best, size) - 1):
        order = list(best)
        order[-swap - 2], order[-swap - 1] = order[-swap - 1], order[-swap - 2]
        candidates.append(Candidate(tuple(order), 0.33 if unsure and not swap else 0.12 / (swap + 1)))
    pairs = [(first, second) for first in range(size) for second in range(first + 1, size)]
    chance = {(one, two): 1 / (1 + math.exp(-0.8 * (place[two] - place[one]) - 0.4)) for one, two in pairs}
    rounds = []
    for least in (4, 2, 1):
        sure = {pair for pair in pairs if abs(place[pair[0]] - place[pair[1]]) >= least}
        weights = tuple(PairProbability(*pair, chance[pair] if pair in sure else 0.5) for pair in pairs)
        rounds.append(Round(weights, tuple(pair for pair in pairs if pair not in sure)))
    why = tuple(Reason(one, two, 0.9, ("water",)) for one, two in list(pairwise(best))[:3])
    everything = tuple(PairProbability(*pair, chance[pair]) for pair in pairs)
    confidence = 0.55 if unsure else 0.87
    return Ordering(
        *(document.id, best, top, confidence, everything, tuple(rounds), tuple(candidates[:n_best]), why),
        warnings=language_warnings(document.sentences),
        given=document.sentences,
    )


def _places(sentences: Sequence[str]) -> list[int]:
    def key(sentence: str) -> int:
        number = re.search(r"\d+", sentence)
        return PLACES.get(sentence, int(number[0]) if number else zlib.crc32(sentence.encode()))

    by_key = sorted(range(len(sentences)), key=lambda number: key(sentences[number]))
    return [by_key.index(number) for number in range(len(sentences))]


def _inversions(place: Sequence[int]) -> int:
    return sum(first > second for where, first in enumerate(place) for second in place[where + 1 :])
