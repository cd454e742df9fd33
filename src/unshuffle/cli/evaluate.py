"""`unshuffle evaluate`: figures of a model, or of predictions made earlier."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def evaluate(
    file: Annotated[Path | None, typer.Argument(help="Documents in their true order.")] = None,
    model: Annotated[str, typer.Option("--model", "-m", help="Model folder, or the name of a shipped one.")] = "default",
    predictions: Annotated[Path | None, typer.Option(help="Score these predictions; no model is run.")] = None,
    shuffles: Annotated[int, typer.Option(min=1, help="How often each document is shuffled and ordered.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the shuffles.")] = 1,
    beam: Annotated[int | None, typer.Option(min=1, help="Width of the search.")] = None,
    parser: Annotated[str | None, typer.Option(help="A parser in place of the model's.")] = None,
    input: Annotated[str | None, typer.Option(help="Format of FILE where its name does not tell.")] = None,
    format: Annotated[str, typer.Option(help="text or json.")] = "text",
) -> None:
    """Score a model on documents whose order is known."""
    from unshuffle.cli.tables import write_figures
    from unshuffle.errors import ConfigError
    from unshuffle.text.readers.read import read_documents
    from unshuffle.training.evaluation import figures, predict
    from unshuffle.training.results import plain, read_predictions

    documents = list(read_documents(file, input)) if file is not None else None
    if predictions is not None:
        found = figures(read_predictions(predictions), documents)
    elif documents is None:
        raise ConfigError("evaluate: there is nothing to score. Name a file of documents, or --predictions.")
    else:
        from unshuffle.system.orderer import Orderer

        orderer = Orderer.from_pretrained(model, parser=parser)
        found = figures(predict(orderer, documents, shuffles=shuffles, seed=seed, beam=beam), documents)
    write_figures(plain(found), format)
