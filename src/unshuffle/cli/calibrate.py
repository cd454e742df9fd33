"""`unshuffle calibrate`: confidence fitted to what a model really gets right."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unshuffle.cli.options import Device, InputFormat, ParserName, in_folder
from unshuffle.errors import ConfigError, DataError
from unshuffle.text.document import Document


class Method(StrEnum):
    """How confidence is fitted."""

    logistic = "logistic"
    isotonic = "isotonic"


def calibrate(
    model: Annotated[Path, typer.Option("--model", "-m", help="Model folder, where calibration.json is written.")],
    files: Annotated[list[Path], typer.Argument(help="Documents in their true order, a file for each kind of text.")],
    results: Annotated[
        Path | None, typer.Option(help="Write the errors to this JSON file.", callback=in_folder)
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Reliability diagram: .svg, .png or .pdf.", callback=in_folder)
    ] = None,
    method: Annotated[
        Method, typer.Option(help="Logistic regression, alone or with a monotone curve.")
    ] = Method.logistic,
    most: Annotated[int | None, typer.Option(min=1, help="Read at most this many documents per file.")] = None,
    input: InputFormat = None,
    parser: ParserName = None,
    device: Device = "cpu",
    seed: Annotated[int, typer.Option(help="Seed of shuffles and halves.")] = 1,
    fewer_bits: Annotated[
        bool, typer.Option("--fewer-bits", help="Also measure whether fewer bits lose anything.")
    ] = False,
) -> None:
    """Fit confidence on one half of each file, each kind of text weighing the same; report errors on the other."""
    if plot is not None:
        from unshuffle.evaluation.reliability import check_picture

        check_picture(plot)
    texts = _read_files(files, input, most)
    from dataclasses import asdict, replace

    from unshuffle.cli.reading import load_orderer
    from unshuffle.cli.terminal import write_table
    from unshuffle.evaluation.calibrate import calibrated, report
    from unshuffle.evaluation.precision import changes_of, harmless
    from unshuffle.evaluation.reliability import write_diagram
    from unshuffle.storage.files import write_json
    from unshuffle.system.loading import MODELS, find_folder

    folder = find_folder(str(model))
    if folder.parent == MODELS and not (model.is_dir() and model.resolve() == folder.resolve()):
        raise ConfigError(f"--model {model}: it is part of the package. Copy its folder, and give the copy.")
    orderer = load_orderer(str(model), device=device, parser=parser)
    found = calibrated(orderer, texts, method=method.value, seed=seed)
    changes = dict(changes_of(str(model), texts)) if fewer_bits else {}
    kept = tuple(bits for bits, kinds in changes.items() if harmless(kinds))
    calibration = replace(found.calibration, harmless=kept)
    write_json(folder / "calibration.json", calibration.write())
    if results is not None:
        measured = {bits: {kind: asdict(each) for kind, each in kinds.items()} for bits, kinds in changes.items()}
        write_json(results, report(found) | ({"fewer_bits": measured} if fewer_bits else {}))
    rows = [
        [
            name,
            str(found.after[name].documents),
            f"{found.before[name].error:.3f}",
            f"{found.after[name].error:.3f}",
            f"{found.pairs[name]:.3f}",
        ]
        for name in texts
    ]
    write_table(["text", "documents", "error as found", "error calibrated", "error of pairs"], rows)
    for bits, kinds in changes.items():
        worst = min(kinds, key=lambda kind: kinds[kind].tau)
        said = "precision auto takes it" if bits in kept else "precision auto does without it"
        typer.echo(f"{bits}: {kinds[worst].tau:+.2f} tau on {worst}, where it loses most; {said}")
    typer.echo(_advice(found.calibration.keep_below))
    if plot is not None:
        write_diagram({name: (found.before[name], found.after[name]) for name in texts}, plot)


def _advice(keep_below: float | None) -> str:
    """What `keep_if_unsure="auto"` will do."""
    from unshuffle.evaluation.calibrate import ENOUGH

    if keep_below is None or keep_below >= 1:
        return f"No confidence has {ENOUGH:.0%} of its pairs right here: keep_if_unsure=auto keeps every input order."
    # Rounded down, so that 1.00 is never said of a threshold that orders do reach.
    return f"keep_if_unsure=auto keeps the input order below a confidence of {int(100 * keep_below) / 100:.2f}."


def _read_files(files: list[Path], input: InputFormat, most: int | None) -> dict[str, tuple[Document, ...]]:
    from itertools import islice

    from unshuffle.text.readers.read import read_documents

    texts: dict[str, tuple[Document, ...]] = {}
    for file in files:
        name = _name(file, texts)
        texts[name] = tuple(islice(read_documents(file, str(input) if input else None), most))
        if not texts[name]:
            raise DataError(f"{file}: there are no documents in it. Give at least one.")
    return texts


def _name(file: Path, taken: Collection[str]) -> str:
    """What a file's row is called: its name, with that of its folder where the first tells little or is taken."""
    name, folder = file.name.split(".")[0], file.parent.name
    longer = f"{folder}-{name}" if folder else name
    plain = longer if name in ("valid", "test", "train") else name
    return next((one for one in (plain, longer) if one not in taken), str(file))
