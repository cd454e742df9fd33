"""What users call: sentences in any order in, a coherent order out."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from unshuffle.decode.contracts import Search
from unshuffle.decode.search.allowed import allowed_orders
from unshuffle.errors import ConfigError, DataError
from unshuffle.graph.batch import Item, collate
from unshuffle.machine.devices import Precision, computing, usable_device
from unshuffle.rank.constraints import Constraints
from unshuffle.result import Coherence, Ordering, SentenceGraph
from unshuffle.system.assemble import assembled, finished, traces
from unshuffle.system.calibration import Calibration
from unshuffle.system.coherence import coherence_of
from unshuffle.system.folder import Model, load_model
from unshuffle.system.stream import batches, windows
from unshuffle.text.document import Document, Role
from unshuffle.text.parsing.mentions import Parser, load_parser
from unshuffle.text.split import split_sentences

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger(__name__)

DEFAULT_MODEL = "default"
DEFAULT_BEAM = 8
"""The narrowest that lost at most 0.1 tau on validation documents (results/benchmarks/beams.json)."""
TRUSTED_PARSERS = ("default", "none", "en_core_web_sm", "en_core_web_md", "en_core_web_lg")
"""Parsers that a model folder may name; any other has to be named by the user."""


class Orderer:
    """Orders documents with one model."""

    def __init__(
        self,
        model: Model,
        *,
        parser: Parser | None = None,
        device: str | torch.device = "cpu",
        precision: Precision = "32",
    ) -> None:
        self.model = model
        self.device = torch.device(device)
        self.precision = precision
        self.calibration = Calibration.read(model.calibration) if model.calibration is not None else None
        self._parser = parser
        self._told_of_cuts = False

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path = DEFAULT_MODEL,
        *,
        device: str = "cpu",
        precision: Precision = "32",
        parser: str | None = None,
        accelerated: bool = True,
    ) -> Orderer:
        """The model of a folder, or one of the package's by name; `parser` overrules the folder's.

        A folder of `unshuffle accelerate` runs in 8 bits on a CPU, unless `accelerated` is false.
        """
        place = usable_device(device)
        model = load_model(str(name), device=place, accelerated=accelerated and place.type == "cpu")
        wanted = model.config.parser
        if parser is None and wanted not in TRUSTED_PARSERS:
            raise ConfigError(
                f"{name}: the model asks for the parser '{wanted}'. If you trust it, say --parser {wanted}."
            )
        chosen = load_parser(parser, allow_path=True) if parser else None
        return cls(model, parser=chosen, device=place, precision=precision)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def parser(self) -> Parser:
        """Loaded when first needed: documents whose mentions are known need none."""
        if self._parser is None:
            self._parser = load_parser(self.model.config.parser)
            trained_with = self.model.parser.get("fingerprint", self._parser.fingerprint)
            if trained_with != self._parser.fingerprint:
                log.warning(
                    "%s: it was trained with another version of the parser '%s'; orders may be a little worse.",
                    self.name,
                    self.model.config.parser,
                )
        return self._parser

    def card(self) -> dict[str, Any]:
        """What is to be known about the model, ready for JSON."""
        return {
            "system": self.model.config.write(),
            "parser": self.model.parser,
            "parameters": sum(parameter.numel() for parameter in self.model.network.parameters()),
            "calibrated": self.calibration is not None,
            "card": self.model.card,
        }

    def order(
        self,
        sentences: Sequence[str] | Document,
        *,
        beam: int | None = None,
        n_best: int = 5,
        keep_if_unsure: float | None = None,
        constraints: Constraints | None = None,
    ) -> Ordering:
        """The best order of some sentences; the input order is kept where confidence is below `keep_if_unsure`."""
        (found,) = self.order_many(
            [sentences], beam=beam, n_best=n_best, keep_if_unsure=keep_if_unsure, constraints=constraints
        )
        return found

    def order_many(
        self,
        documents: Iterable[Document | Sequence[str]],
        *,
        beam: int | None = None,
        n_best: int = 5,
        keep_if_unsure: float | None = None,
        constraints: Constraints | None = None,
        batch_size: int = 32,
    ) -> Iterator[Ordering]:
        """Orders a stream in constant memory; results come in the order of the documents.

        Constraints hold for every document of the stream.
        """
        width = max(DEFAULT_BEAM if beam is None else beam, n_best)
        if width < 1 or n_best < 1 or batch_size < 1:
            raise ConfigError("order: beam, n_best and batch_size count from 1. Give larger numbers.")
        for window in windows(document_of(document) for document in documents):
            parsed = list(self._parsed(window))
            items = [self._item(document) for document in parsed]
            results: dict[int, Ordering] = {}
            for numbers in batches(items, batch_size):
                orderings = self._order_batch([items[number] for number in numbers], width, n_best, constraints)
                for number, ordering in zip(numbers, orderings, strict=True):
                    results[number] = finished(ordering, parsed[number], keep_if_unsure, constraints)
            for number in range(len(items)):
                yield results.pop(number)

    def coherence(self, text: str | Sequence[str] | Document) -> Coherence:
        """How coherent a text is in the order in which it stands; a string is split into sentences first."""
        document = document_of(split_sentences(text) if isinstance(text, str) else text)
        (parsed,) = self._parsed([document])
        return coherence_of(self.model.network, self._item(parsed), device=self.device)

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

    def _item(self, document: Document) -> Item:
        """What the network reads of a document; where that is not all of it, the user is told once."""
        item = self.model.preparer.item(document)
        longest = self.model.config.tokens.longest
        cut = next((number for number, words in enumerate(item.words, 1) if len(words) >= longest), None)
        if cut is not None and not self._told_of_cuts:
            self._told_of_cuts = True
            log.warning(
                "document '%s': the model reads %d word pieces of a sentence; what number %d has beyond is left out.",
                document.id,
                longest,
                cut,
            )
        return item

    def _parsed(self, documents: list[Document]) -> Iterable[Document]:
        if all(document.mentions is not None for document in documents):
            return documents
        return self.parser.mentions(documents)

    @torch.inference_mode()
    def _order_batch(
        self, items: list[Item], width: int, n_best: int, constraints: Constraints | None
    ) -> list[Ordering]:
        batch = collate(items).to(self.device)
        allowed = None if constraints is None else allowed_orders([constraints] * len(items), batch.graph.sizes)
        with computing(self.device, self.precision):
            read = self.model.network.read(batch)
            found = self.model.network.search(read, batch, Search(beam=width, keep=width, allowed=allowed))
        return [
            assembled(item, best, rounds, n_best=n_best, calibration=self.calibration)
            for item, best, rounds in zip(items, found, traces(read, batch), strict=True)
        ]


def document_of(document: Document | Sequence[str]) -> Document:
    """Sentences as a document; a string would read as one sentence a letter, so it is refused."""
    if isinstance(document, str):
        raise ConfigError("order: got one string. Give a list of sentences, or split the text first.")
    if not isinstance(document, Document):
        return Document.from_sentences(document)
    if not document.sentences:
        raise DataError(f"document '{document.id}': it has no sentence. Give at least one.")
    return document
