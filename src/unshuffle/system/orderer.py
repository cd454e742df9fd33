"""What users call: sentences in any order in, a coherent order out."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.graph.prepare import Item, batches, windows
from unshuffle.judge.contracts import Judge
from unshuffle.machine import shown
from unshuffle.result import Coherence, Ordering, SentenceGraph
from unshuffle.search.contracts import Search, allowed_orders
from unshuffle.search.copies import Copies, interchangeable
from unshuffle.steps import Steps, finish
from unshuffle.system.assemble import CONFIDENCE_BEAM, assembled, finished
from unshuffle.system.calibration import KEEP_BELOW, Calibration
from unshuffle.system.coherence import coherence_steps
from unshuffle.system.contracts import OrderingModel
from unshuffle.system.given import all_strings, check_stream, one_document
from unshuffle.system.judging import asked, judged, reranked, with_weights
from unshuffle.system.loading import Precision, RuntimeName, load
from unshuffle.system.options import OrderKeywords, OrderOptions, changed, check_count
from unshuffle.system.warning import tell, with_single_sentences_told
from unshuffle.text.document import Document, DocumentLike, OnError, Role, document_of, numbered
from unshuffle.text.parsing.mentions import Parser, load_parser

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger(__name__)

DEFAULT_MODEL = "default"
TRUSTED_PARSERS = ("default", "none", "rules", "en_core_web_sm", "en_core_web_md", "en_core_web_lg")
"""Parsers that a model folder may name; any other has to be named by the user."""


class Orderer:
    """Orders documents with one model."""

    def __init__(self, model: OrderingModel, *, parser: Parser | None = None, calibrated: bool = True) -> None:
        self.model = model
        stored = model.calibration if calibrated else None
        self.calibration = Calibration.read(stored) if stored is not None else None
        self._parser = parser
        self._warned_of_cuts = False

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path = DEFAULT_MODEL,
        *,
        runtime: RuntimeName = "auto",
        device: str = "cpu",
        precision: Precision = "auto",
        threads: int | None = None,
        parser: str | None = None,
    ) -> Orderer:
        """The model of a folder, or one of the package's by name; `parser` overrules the folder's.

        `runtime`: "light" computes without torch, which most models on a transformer can do, "torch" with it; "auto"
        takes the light one where it serves. `threads`: of the light runtime; those of torch are the program's choice.
        """
        with np.errstate(all="ignore"):  # weights that are no numbers are refused when they are used
            model = load(str(name), runtime=runtime, device=device, precision=precision, threads=threads)
        return cls(model, parser=trusted_parser(model, parser))

    def uncalibrated(self) -> Orderer:
        """The same model without its calibration, to fit another."""
        return Orderer(self.model, parser=self.parser, calibrated=False)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def parser(self) -> Parser:
        """Loaded when first needed: documents whose mentions are known need none."""
        if self._parser is None:
            self._parser = load_parser(self.model.wanted_parser)
            trained_with = self.model.parser.get("fingerprint", self._parser.fingerprint)
            if trained_with != self._parser.fingerprint:
                log.warning(
                    "%s: it was trained with another version of the parser '%s'; orders may be a little worse.",
                    self.name,
                    self.model.wanted_parser,
                )
        return self._parser

    def card(self) -> dict[str, Any]:
        """What is to be known about the model, ready for JSON."""
        return {
            **self.model.description(),
            "parser": dict(self.model.parser),
            "calibrated": self.calibration is not None,
            "card": self.model.card,
        }

    def pieces(self, sentences: Sequence[str]) -> list[int]:
        """How many words or word pieces of each sentence the model reads."""
        return [len(encoded.ids) for encoded in self.model.preparer.tokenizer.encode(sentences)]

    def order(
        self, sentences: DocumentLike, options: OrderOptions | None = None, **changes: Unpack[OrderKeywords]
    ) -> Ordering:
        """The best order of some sentences, or of a text, which is split into sentences first."""
        wanted = changed(options, "order", changes)
        (found,) = self._ordered([(0, one_document(sentences))], wanted, batch_size=1)
        return found

    def order_many(
        self,
        documents: Iterable[DocumentLike],
        options: OrderOptions | None = None,
        *,
        batch_size: int = 32,
        on_error: OnError = "raise",
        progress: bool | None = False,
        **changes: Unpack[OrderKeywords],
    ) -> Iterator[Ordering]:
        """Orders a stream in constant memory; results come in the order of the documents, whose position is `index`.

        `on_error="skip"` leaves out documents that cannot be read and ends with one warning that counts them.
        `progress=None` shows a bar after a second where a terminal or notebook can show one. Constraints hold for every
        document.
        """
        wanted = changed(options, "order_many", changes)
        check_count("order_many", "batch_size", batch_size)
        check_stream(documents)
        found = self._ordered(numbered(documents, on_error), wanted, batch_size)
        if all_strings(documents):
            found = with_single_sentences_told(found)
        return shown(found, documents, progress, unit=" documents")

    def _ordered(
        self, documents: Iterable[tuple[int, Document]], options: OrderOptions, batch_size: int
    ) -> Iterator[Ordering]:
        told = False
        for window in windows(documents):
            parsed = list(self._parsed([document for _, document in window]))
            items = [self._item(document) for document in parsed]
            found: dict[int, Ordering] = {}
            for numbers in batches(items, batch_size):
                batch, texts = [items[number] for number in numbers], [parsed[number] for number in numbers]
                orderings = self._order_batch(batch, texts, options)
                found.update(zip(numbers, orderings, strict=True))
            unjudged = [found[number] for number in range(len(items))]
            results: Iterable[Ordering] = unjudged
            if options.judge is not None and options.questions:
                results = self._judged(unjudged, options.judge, items, parsed, options)
            for (index, document), ordering, item in zip(window, results, items, strict=True):
                done = finished(ordering, document, item.graph, self._keep_below(options), options.constraints)
                if done.warnings and not told:
                    told = True
                    tell(done)
                yield replace(done, index=index)

    def _judged(
        self,
        orderings: list[Ordering],
        judge: Judge,
        items: list[Item],
        documents: list[Document],
        options: OrderOptions,
    ) -> Iterator[Ordering]:
        """The orders as the judge's answers leave them; a model that reads link weights is given the answers."""
        refinements = asked(judge, orderings, documents, options)
        for ordering, item, document, refinement in zip(orderings, items, documents, refinements, strict=True):
            if self.model.judged and (weighted := with_weights(item, refinement)) is not None:
                yield judged(self._order_batch([weighted], [document], options)[0], ordering, refinement)
            else:
                yield reranked(ordering, refinement)

    def _keep_below(self, options: OrderOptions) -> float | None:
        """The confidence below which the input order is kept."""
        if options.keep_if_unsure != "auto":
            return options.keep_if_unsure
        stored = self.calibration.keep_below if self.calibration is not None else None
        return KEEP_BELOW if stored is None else stored

    def coherence(self, text: DocumentLike) -> Coherence:
        """How coherent a text is in the order in which it stands; a string is split into sentences first."""
        return finish(self.coherence_steps(text))

    def coherence_steps(self, text: DocumentLike) -> Steps[Coherence]:
        """The same in steps, for whoever has other work in between."""
        (parsed,) = self._parsed([document_of(text)])
        return (yield from coherence_steps(self.model, self._item(parsed), parsed.sentences))

    def graph(self, sentences: DocumentLike) -> SentenceGraph:
        """The graph that the model reads."""
        (document,) = self._parsed([one_document(sentences)])
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
        longest = self.model.longest
        if not self._warned_of_cuts and any(len(words) >= longest for words in item.words):
            self._warned_of_cuts = True
            log.warning("The model reads %d word pieces of a sentence; the middle of longer ones is left out.", longest)
        return item

    def _parsed(self, documents: list[Document]) -> Iterable[Document]:
        if all(document.mentions is not None for document in documents):
            return documents
        return self.parser.mentions(documents)

    @np.errstate(all="ignore")  # weights that are no numbers are refused in one line, by `assembled`
    def _order_batch(self, items: list[Item], documents: list[Document], options: OrderOptions) -> list[Ordering]:
        rules = options.constraints
        sizes = [item.graph.sentences for item in items]
        allowed = None if rules is None else allowed_orders([rules] * len(items), sizes)
        copies = [interchangeable(document.sentences, rules) for document in documents]
        wanted = Search(allowed=allowed, copies=Copies.of(copies, max(sizes)))
        width = options.width
        reading = self.model.read(items)
        found = reading.search(replace(wanted, beam=width, keep=width))
        # If each search judged itself, confidence would rise as the beam gets narrower and finds less that disagrees.
        judges = (
            found
            if width == CONFIDENCE_BEAM
            else reading.search(replace(wanted, beam=CONFIDENCE_BEAM, keep=CONFIDENCE_BEAM))
        )
        return [
            assembled(
                item,
                best.distinct(same),
                others.distinct(same),
                rounds,
                n_best=options.orders,
                calibration=self.calibration,
            )
            for item, best, others, same, rounds in zip(items, found, judges, copies, reading.rounds(), strict=True)
        ]


def trusted_parser(model: OrderingModel, named: str | None) -> Parser | None:
    """The parser that the user names, or None for the model's own where that can be trusted."""
    if named is None and model.wanted_parser not in TRUSTED_PARSERS:
        raise ConfigError(
            f"{model.name}: the model asks for the parser '{model.wanted_parser}'. "
            f"If you trust it, say --parser {model.wanted_parser}."
        )
    if named not in (None, "none", "rules") and find_spec("spacy") is None:
        raise MissingExtra(f"parser '{named}': every parser but 'rules' and 'none'", "parse")
    return load_parser(named, allow_path=True) if named else None
