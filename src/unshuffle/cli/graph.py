"""`unshuffle graph`: the sentence-entity graph as a picture."""

from __future__ import annotations

import json
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from unshuffle.cli.options import Device, File, InputFormat, ModelName, ParserName, Text, Units, in_folder
from unshuffle.errors import ConfigError, DataError

KINDS = (".svg", ".png", ".dot", ".json")


def graph(
    file: File = None,
    text: Text = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Picture: .svg, .png, .dot or .json; SVG to stdout if left out.", callback=in_folder
        ),
    ] = None,
    number: Annotated[int, typer.Option(min=1, help="Which document of the file, from 1.")] = 1,
    input: InputFormat = None,
    unit: Units = "sentence",
    model: ModelName = "default",
    parser: ParserName = None,
    device: Device = "cpu",
) -> None:
    """Draw the graph of a document with its link weights before and after refinement."""
    from unshuffle.cli.reading import CommandInput
    from unshuffle.cli.terminal import spinner, write_pieces

    kind = out.suffix.lower() if out is not None else ".svg"
    if kind not in KINDS:
        raise ConfigError(f"--out {out}: there is no such kind of picture. End the name in {', '.join(KINDS)}.")
    documents = list(islice(CommandInput(file, text, input, unit).documents(), number - 1, number))
    if not documents:
        raise DataError(f"--number {number}: there are fewer documents. Give a smaller number.")
    from unshuffle.cli.reading import load_orderer
    from unshuffle.drawing.description import describe
    from unshuffle.drawing.dot import dot_of
    from unshuffle.drawing.layout import picture_of
    from unshuffle.drawing.svg import svg_of
    from unshuffle.system.orderer import Orderer
    from unshuffle.text.parsing.mentions import load_parser

    orderer = load_orderer(model, device=device, parser=parser)
    if parser is None and orderer.parser.name in ("none", "rules"):  # the model reads no entities, but people do
        found = "default" if find_spec("spacy") else "rules"
        orderer = Orderer(orderer.model, parser=load_parser(found))
        if found == "rules":
            typer.echo(
                "unshuffle: without the 'parse' extra, only words that sentences share are linked. For nouns and their "
                "roles: pip install '.[parse]'.",
                err=True,
            )
    with spinner("Drawing"):
        (document,) = orderer.parser.mentions(documents)
        drawing = describe(document.sentences, orderer.graph(document), orderer.order(document))
    if kind == ".png" and out is not None:
        from unshuffle.drawing.png import write_png
        from unshuffle.storage.files import write_whole

        write_whole(out, lambda temporary: write_png(picture_of(drawing), temporary))
    elif kind == ".dot":
        write_pieces([dot_of(drawing)], out)
    elif kind == ".json":
        write_pieces([json.dumps(drawing.to_json(), ensure_ascii=False) + "\n"], out)
    else:
        write_pieces([svg_of(picture_of(drawing))], out)
