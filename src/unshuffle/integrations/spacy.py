"""A spaCy component: `nlp.add_pipe("unshuffle")` after whatever sets sentence boundaries.

It fills `doc._.unshuffle`, the answer as plain data, and `doc._.unshuffled`, the sentence spans in reading order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from spacy.language import Language
from spacy.tokens import Doc, Span

from unshuffle.errors import DataError
from unshuffle.system.options import OrderOptions
from unshuffle.system.orderer import Orderer

FACTORY = "unshuffle"


class Unshuffle:
    """Orders the sentences of each document; the document itself stays as it is."""

    def __init__(self, model: str, parser: str | None, options: OrderOptions) -> None:
        self._orderer = Orderer.from_pretrained(model, parser=parser)
        self._options = options
        if not Doc.has_extension("unshuffle"):
            Doc.set_extension("unshuffle", default=None)
            Doc.set_extension("unshuffled", getter=spans_in_order)

    def __call__(self, doc: Doc) -> Doc:
        """One document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 32) -> Iterator[Doc]:
        """Documents in batches, as `nlp.pipe` calls it."""
        docs = iter(stream)
        while window := list(itertools.islice(docs, batch_size)):
            texts = [[span.text for span in sentences_of(doc)] for doc in window]
            found = self._orderer.order_many([text for text in texts if text], self._options)
            for doc, text in zip(window, texts, strict=True):
                # Plain data, because spaCy writes it with the document.
                doc._.unshuffle = next(found).to_json() if text else None
                yield doc


def sentences_of(doc: Doc) -> list[Span]:
    """The sentences that have something visible in them."""
    if len(doc) and not doc.has_annotation("SENT_START"):
        raise DataError("spaCy: the document has no sentence boundaries. Add a parser or the sentencizer before.")
    return [span for span in doc.sents if span.text.strip()]


def spans_in_order(doc: Doc) -> list[Span]:
    """The sentences in reading order; as they stand where the component has not run."""
    spans = sentences_of(doc)
    return [spans[position] for position in doc._.unshuffle["order"]] if doc._.unshuffle else spans


@Language.factory(
    FACTORY,
    assigns=["doc._.unshuffle"],
    requires=["doc.sents"],
    default_config={"model": "default", "beam": None, "keep_if_unsure": None, "parser": None},
)
def make_component(
    nlp: Language, name: str, model: str, beam: int | None, keep_if_unsure: float | str | None, parser: str | None
) -> Unshuffle:
    """The component; its options are those of `Orderer.order`."""
    options = OrderOptions(beam=beam, keep_if_unsure=keep_if_unsure)  # type: ignore[arg-type]  # it is checked there
    return Unshuffle(model, parser, options)
