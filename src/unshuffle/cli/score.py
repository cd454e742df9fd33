"""`unshuffle score`: how coherent a text is as it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from unshuffle.cli.options import (
    Broken,
    Device,
    File,
    Form,
    InputFormat,
    ModelName,
    OutputFile,
    OutputForm,
    ParserName,
    Text,
    Units,
)

if TYPE_CHECKING:
    from unshuffle.result import Coherence
    from unshuffle.text.document import Document

BAR = 20
"""Characters of a full bar."""


def score(
    file: File = None,
    text: Text = None,
    input: InputFormat = None,
    unit: Units = "sentence",
    model: ModelName = "default",
    parser: ParserName = None,
    device: Device = "cpu",
    form: OutputForm = Form.text,
    out: OutputFile = None,
    on_error: Broken = "stop",
) -> None:
    """Say how coherent each document is in its order, where it is weakest, and which move would help most."""
    from unshuffle.cli.reading import CommandInput
    from unshuffle.cli.terminal import counted, to_terminal, write_pieces

    reading = CommandInput(file, text, input, unit, on_error)
    documents = reading.documents()
    from unshuffle.cli.reading import load_orderer

    orderer = load_orderer(model, device=device, parser=parser)
    results = ((document, orderer.coherence(document)) for document in documents)
    scored = counted(results, "Scoring", reading.expected, answers_shown=to_terminal(out))
    write = _json if form is Form.json else partial(_text, unit=unit)
    write_pieces((write(document, found) for document, found in scored), out)
    reading.tell()


def _json(document: Document, found: Coherence) -> str:
    return json.dumps({"id": document.id, **found.to_json()}, ensure_ascii=False) + "\n"


def _text(document: Document, found: Coherence, *, unit: str) -> str:
    return "\n".join(_lines(document, found, unit)) + "\n\n"


def _lines(document: Document, found: Coherence, unit: str) -> Iterator[str]:
    """Sentences are counted from 1, as people do."""
    if len(document.sentences) == 1:
        yield f"{document.id}: one {unit}, which has no other order"
        return
    yield f"{document.id}: {found.verdict}"
    yield f"  more probable than {found.percentile:.1f}% of other orders; log-probability {found.log_probability:.2f}"
    for step in found.transitions:
        bar = f"{'█' * round(BAR * step.score):<{BAR}}"
        yield f"  {step.first + 1:>3} → {step.second + 1:<3} {step.score:.2f} {bar}  {_short(document, step.second)}"
    for move in found.moves:
        yield f"  {move.words}: {unit} {move.sentence + 1} at position {move.to + 1}"
    if not found.moves:
        yield "  no single move would clearly help"


def _short(document: Document, sentence: int) -> str:
    text = " ".join(document.sentences[sentence].split())
    return text if len(text) <= 60 else text[:59].rstrip() + "…"
