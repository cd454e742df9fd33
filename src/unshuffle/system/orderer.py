"""What users call: sentences in any order in, a coherent order out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import torch

from unshuffle.decode.contracts import Found, Search
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import Batch, Item, collate
from unshuffle.refine.iterative import Refined
from unshuffle.result import Candidate, Ordering, PairProbability, Round, SentenceGraph
from unshuffle.system.folder import Model, load_model
from unshuffle.system.network import Read
from unshuffle.text.document import Document, Role
from unshuffle.text.mentions import Parser, load_parser

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_MODEL = "default"
DEFAULT_BEAM = 16
TRUSTED_PARSERS = ("default", "none", "en_core_web_sm", "en_core_web_md", "en_core_web_lg")
"""Parsers that a model folder may name; any other has to be named by the user."""
WINDOW = 256
"""Documents that `order_many` holds at a time, to put documents of like length into one batch."""


class Orderer:
    """Orders documents with one model."""

    def __init__(self, model: Model, *, parser: Parser | None = None, device: str = "cpu") -> None:
        self.model = model
        self.device = torch.device(device)
        self._parser = parser

    @classmethod
    def from_pretrained(
        cls, name: str | Path = DEFAULT_MODEL, *, device: str = "cpu", parser: str | None = None
    ) -> Orderer:
        """The model of a folder, or one of the package's by name; `parser` overrules the folder's."""
        model = load_model(str(name), device=device)
        wanted = model.config.parser
        if parser is None and wanted not in TRUSTED_PARSERS:
            raise ConfigError(f"{name}: the model asks for the parser '{wanted}'. If you trust it, say --parser {wanted}.")
        return cls(model, parser=load_parser(parser, allow_path=True) if parser else None, device=device)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def parser(self) -> Parser:
        """Loaded when first needed: documents whose mentions are known need none."""
        if self._parser is None:
            self._parser = load_parser(self.model.config.parser)
        return self._parser

    def order(
        self, sentences: Sequence[str] | Document, *, beam: int | None = None, n_best: int = 5,
        keep_if_unsure: float | None = None,
    ) -> Ordering:
        """The best order of some sentences; the input order is kept where confidence is below `keep_if_unsure`."""
        return next(self.order_many([sentences], beam=beam, n_best=n_best, keep_if_unsure=keep_if_unsure))

    def order_many(
        self, documents: Iterable[Document | Sequence[str]], *, beam: int | None = None, n_best: int = 5,
        keep_if_unsure: float | None = None, batch_size: int = 32,
    ) -> Iterator[Ordering]:
        """Orders a stream in constant memory; results come in the order of the documents."""
        stream = iter(documents)
        while window := list(islice(stream, WINDOW)):
            read = [document_of(document) for document in window]
            parsed = list(self._parsed(read))
            items = [self.model.preparer.item(document) for document in parsed]
            by_length = sorted(range(len(items)), key=lambda number: items[number].graph.sentences)
            results: dict[int, Ordering] = {}
            for numbers in _batches(by_length, items, batch_size):
                for number, ordering in zip(
                    numbers, self._order_batch([items[number] for number in numbers], beam, n_best), strict=True
                ):
                    results[number] = finished(ordering, parsed[number], keep_if_unsure)
            for number in range(len(items)):
                yield results.pop(number)

    def graph(self, sentences: Sequence[str] | Document) -> SentenceGraph:
        """The graph that the model reads."""
        (document,) = self._parsed([document_of(sentences)])
        graph = self.model.preparer.item(document).graph
        rows = zip(*graph.mentions.tolist(), graph.roles.tolist(), strict=True)
        return SentenceGraph(
            sentences=graph.sentences,
            entities=graph.words,
            mentions=tuple((entity, sentence, Role(role).name.lower()) for entity, sentence, role in rows),
            links=tuple((first, second) for first, second in graph.pairs.T.tolist()),
            relations=tuple((first, second) for first, second in graph.relations.T.tolist()),
        )

    def _parsed(self, documents: list[Document]) -> Iterable[Document]:
        if all(document.mentions is not None for document in documents):
            return documents
        return self.parser.mentions(documents)

    @torch.inference_mode()
    def _order_batch(self, items: list[Item], beam: int | None, n_best: int) -> list[Ordering]:
        batch = collate(items).to(self.device)
        read = self.model.network.read(batch)
        width = beam or DEFAULT_BEAM
        found = self.model.network.search(read, batch, Search(beam=max(width, n_best), keep=max(width, n_best)))
        rounds = _rounds(read, batch)
        return [
            _ordering(item, best, steps, n_best) for item, best, steps in zip(items, found, rounds, strict=True)
        ]


def document_of(document: Document | Sequence[str]) -> Document:
    """Sentences as a document; a string would read as one sentence a letter, so it is refused."""
    if isinstance(document, Document):
        return document
    if isinstance(document, str):
        raise ConfigError("order: got one string. Give a list of sentences, or split the text first.")
    return Document.from_sentences(document)


def _batches(by_length: list[int], items: list[Item], size: int) -> Iterator[list[int]]:
    """At most `size` documents, and fewer where documents are long: the search grows with the square of length."""
    start = 0
    while start < len(by_length):
        end = min(start + size, len(by_length))
        while end - start > 1 and (end - start) * items[by_length[end - 1]].graph.sentences ** 2 > 20_000:
            end = start + (end - start) // 2
        yield by_length[start:end]
        start = end


def _ordering(item: Item, found: Found, rounds: tuple[Round, ...], n_best: int) -> Ordering:
    best = [
        Candidate(order, math.exp(score))
        for order, score in zip(found.orders, found.log_probabilities, strict=True)
    ]
    pairs = pair_probabilities(best)
    return Ordering(
        id=item.id,
        order=best[0].order,
        probability=best[0].probability,
        confidence=agreement(best[0].order, pairs),
        pairs=pairs,
        rounds=rounds,
        n_best=tuple(best[:n_best]),
    )


def pair_probabilities(candidates: Sequence[Candidate]) -> tuple[PairProbability, ...]:
    """How often i comes before j among the orders found, each weighed by its probability."""
    size = len(candidates[0].order)
    weight = torch.tensor([candidate.probability for candidate in candidates], dtype=torch.float64)
    weight = weight / weight.sum() if float(weight.sum()) > 0 else torch.full_like(weight, 1 / len(weight))
    place = torch.argsort(torch.tensor([candidate.order for candidate in candidates]), 1)  # (candidates, size)
    before = (place[:, :, None] < place[:, None, :]).double()
    mean = torch.einsum("c,cij->ij", weight, before).tolist()
    return tuple(
        PairProbability(first, second, mean[first][second]) for first in range(size) for second in range(first + 1, size)
    )


def agreement(order: Sequence[int], pairs: Sequence[PairProbability]) -> float:
    """Mean probability of the pairs as the order has them; 1 for a single sentence."""
    if not pairs:
        return 1.0
    place = {sentence: position for position, sentence in enumerate(order)}
    held = [
        pair.probability if place[pair.first] < place[pair.second] else 1 - pair.probability for pair in pairs
    ]
    return sum(held) / len(held)


def finished(ordering: Ordering, document: Document, keep_if_unsure: float | None) -> Ordering:
    """Ties made explicit, and the input order put back where the model is not sure enough."""
    same: dict[str, list[int]] = {}
    for number, sentence in enumerate(document.sentences):
        same.setdefault(sentence, []).append(number)
    ties = tuple((first, second) for group in same.values() for first, second in zip(group, group[1:], strict=False))
    if keep_if_unsure is not None and ordering.confidence < keep_if_unsure:
        return replace(ordering, ties=ties, order=tuple(range(len(document.sentences))), kept=True)
    return replace(ordering, ties=ties)


def _rounds(read: Read, batch: Batch) -> list[tuple[Round, ...]]:
    """Each document's own rounds, in its own sentence numbers; rounds in which it had settled are left out."""
    graph = batch.graph
    if read.refined is None:
        return [()] * graph.documents
    refined: Refined = read.refined
    document = graph.document_of_sentence[graph.pairs[0]].tolist()
    first, second = (graph.pairs - graph.first_sentence[graph.document_of_sentence[graph.pairs[0]]]).tolist()
    traces: list[list[Round]] = [[] for _ in range(graph.documents)]
    for trace in refined.rounds:
        weights, undecided = trace.weights.tolist(), trace.undecided.tolist()
        rows: list[list[PairProbability]] = [[] for _ in range(graph.documents)]
        open_pairs: list[list[tuple[int, int]]] = [[] for _ in range(graph.documents)]
        for where, one, other, weight, unsure in zip(document, first, second, weights, undecided, strict=True):
            rows[where].append(PairProbability(one, other, weight))
            if unsure:
                open_pairs[where].append((one, other))
        for where, active in enumerate(trace.active.tolist()):
            if active:
                traces[where].append(Round(tuple(rows[where]), tuple(open_pairs[where])))
    return [tuple(steps) for steps in traces]
