"""`unshuffle evaluate`: figures of a model, or of predictions made earlier."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unshuffle.cli.options import (
    Device,
    Form,
    InputFormat,
    ModelName,
    OutputForm,
    ParserName,
    PrecisionChoice,
    PrecisionName,
    in_folder,
    refuse_idle,
)
from unshuffle.errors import ConfigError, DataError

IDLE = ("file", "model", "orders", "shuffles", "seed", "beam", "parser", "device", "precision", "input")
"""What only counts where a model is run."""


def evaluate(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Documents in their true order.")] = None,
    model: ModelName = "default",
    predictions: Annotated[Path | None, typer.Option(help="Score these predictions; no model is run.")] = None,
    orders: Annotated[
        Path | None,
        typer.Option(help="Write the orders to this file, for --predictions and `compare`.", callback=in_folder),
    ] = None,
    shuffles: Annotated[int, typer.Option(min=1, help="How often each document is shuffled and ordered.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the shuffles.")] = 1,
    beam: Annotated[int | None, typer.Option(min=1, help="Width of the search.")] = None,
    parser: ParserName = None,
    device: Device = "cpu",
    precision: PrecisionName = PrecisionChoice.single,
    input: InputFormat = None,
    form: OutputForm = Form.text,
) -> None:
    """Score a model on documents whose order is known.

    The documents must be in their true order: each is shuffled, put back in order and compared. An interval holds 95%
    of the means when the documents are drawn again and again.
    """
    from unshuffle.cli.terminal import counted, write_figures
    from unshuffle.text.readers.read import read_documents

    if predictions is not None:
        refuse_idle(context, IDLE, "no model is run with --predictions. Give one of the two.")
    documents = None
    if file is not None:
        documents = list(read_documents(file, str(input) if input else None))
        if not documents:
            raise DataError(f"{file}: there are no documents in it. Give at least one.")
        if all(len(document.sentences) < 2 for document in documents):
            raise DataError(f"{file}: its documents have one sentence each, and nothing to order. Give longer ones.")
    if predictions is None and documents is None:
        raise ConfigError("evaluate: there is nothing to score. Name a file of documents, or --predictions.")
    if predictions is not None and not predictions.is_file():
        raise DataError(f"{predictions}: there is no such file. Give the predictions of an earlier run.")
    if predictions is not None:
        from unshuffle.evaluation.results import read_predictions

        write_figures(list(read_predictions(predictions)), form.value)
        return
    from unshuffle.cli.reading import load_orderer

    orderer = load_orderer(model, parser=parser, device=device, precision=precision.value)
    from unshuffle.evaluation.predict import predict

    given = documents or []
    found = predict(
        orderer,
        given,
        shuffles=shuffles,
        seed=seed,
        beam=beam,
        watch=lambda orderings: counted(orderings, "Ordering", lambda: shuffles * len(given)),
    )
    made = list(found)
    if orders is not None:
        from unshuffle.evaluation.results import write_predictions

        write_predictions(orders, made)
    write_figures(made, form.value)
