"""Adapting a model to the user's own documents, in minutes on a CPU."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch

from unshuffle.evaluation.calibrate import FEWEST as FEWEST_FITTED
from unshuffle.evaluation.calibrate import calibrated
from unshuffle.evaluation.predict import Prediction, figures, gains, predict
from unshuffle.evaluation.results import Result, command_line, plain
from unshuffle.graph.prepare import Item
from unshuffle.machine import usable_device, usable_precision
from unshuffle.seeds import derived
from unshuffle.storage.files import write_json
from unshuffle.system.folder import Model, load_model, save_model
from unshuffle.system.loading import find_folder
from unshuffle.system.orderer import Orderer, trusted_parser
from unshuffle.text.document import Document
from unshuffle.text.parsing.corpus import CachedParser
from unshuffle.training.adaptation import SHUFFLES, FineTuned, FineTuning, Tested, card, settings
from unshuffle.training.checkpoint import check_settings
from unshuffle.training.classifiers import with_weights
from unshuffle.training.config import TrainingConfig
from unshuffle.training.corpus import Splits
from unshuffle.training.enough import check_documents, check_folder
from unshuffle.training.loop import Progress
from unshuffle.training.ordering import OrderingStage
from unshuffle.training.run import new_fabric
from unshuffle.training.stages import Run, train_stages

HELD_OUT, LEAST_HELD_OUT = 10, 5
"""One document in this many is held out where the user names none, but no fewer than the second number."""


def fine_tuned(job: FineTuning, report: Callable[[Progress], None] = lambda progress: None) -> FineTuned:
    """Trains within the time given and saves the better of the old and the new model."""
    check_folder(job.out, job.source, resume=job.resume)
    check_documents(job.documents, job.valid)
    model = load_model(job.source, device=usable_device(job.device))
    orderer = Orderer(model, parser=trusted_parser(model, job.parser))
    training = settings(job, model.config)
    train, valid = _split(job)
    parser = CachedParser(orderer.parser, job.out / "parses")
    train, valid, test = (tuple(parser.mentions(documents)) for documents in (train, valid, job.test))
    before = [_ordered(orderer, documents, job.seed) for documents in (valid, test)]
    old = {name: value.clone() for name, value in model.network.state_dict().items()}
    torch.manual_seed(derived(job.seed, "fine-tune") % 2**31)
    run = _run(job, training, model, Splits(train, valid, ()))
    for progress in _trained(run, model, train, valid, refiner=job.refiner):
        report(progress)
    model.network.requires_grad_(True).eval()
    after = _ordered(orderer, valid, job.seed)
    improved = figures(after).mean.tau > figures(before[0]).mean.tau
    if not improved:
        model.network.load_state_dict(old)
    tested = None
    if test:
        predictions = _ordered(orderer, test, job.seed) if improved else before[1]
        tested = Tested(figures(before[1]), figures(predictions), predictions, gains(before[1], predictions))
    gained = gains(before[0], after)
    result = FineTuned(figures(before[0]), figures(after), len(train), len(valid), improved, tested, gained)
    write_json(
        job.out / "fine-tune.json",
        result.to_json() | {"source": job.source, "training": asdict(training)},
    )
    if improved:
        model = replace(model, calibration=_calibration(orderer, valid, job.seed))
    save_model(replace(model, name=job.out.name, card=card(job, model.name, result)), job.out)
    if tested and job.results:
        _result(job, model, run, result, Splits(train, valid, test)).write(job.results, tested.predictions)
    for working in ("stages", "parses"):  # ten times the size of the model
        shutil.rmtree(job.out / working, ignore_errors=True)
    return result


def _calibration(orderer: Orderer, valid: Sequence[Document], seed: int) -> dict[str, Any] | None:
    """Confidence fitted to the new weights; the old one where too few documents are held out to fit it."""
    if sum(len(document.sentences) > 1 for document in valid) < 2 * FEWEST_FITTED:
        return orderer.model.calibration
    return calibrated(orderer, {"held out": valid}, seed=seed).calibration.write()


def _ordered(orderer: Orderer, documents: Sequence[Document], seed: int) -> tuple[Prediction, ...]:
    return tuple(predict(orderer, documents, shuffles=SHUFFLES, seed=seed))


def _result(job: FineTuning, model: Model, run: Run, found: FineTuned, data: Splits) -> Result:
    """Test figures in the form of every other training, with those of the old model beside them."""
    assert found.test is not None
    return Result(
        system=model.name,
        dataset=job.dataset,
        seed=job.seed,
        command=command_line(),
        config={"system": model.config.write(), "training": asdict(run.training)},
        data_hash=data.hash,
        minutes=round(sum(stage["minutes"] for stage in run.trail()), 3),
        parameters=sum(parameter.numel() for parameter in model.network.parameters()),
        valid=plain(found.after if found.improved else found.before),
        test=plain(found.test.after),
        notes={"before": plain(found.test.before)},
    )


def _split(job: FineTuning) -> tuple[tuple[Document, ...], tuple[Document, ...]]:
    """Training and held-out documents."""
    if job.valid is not None:
        return job.documents, job.valid
    teaching = [number for number, document in enumerate(job.documents) if len(document.sentences) > 1]
    drawn = np.random.default_rng(derived(job.seed, "held out")).permutation(teaching)
    least = min(LEAST_HELD_OUT, len(teaching) // 3)
    held = set(drawn[: max(least, len(teaching) // HELD_OUT)].tolist())
    inside, outside = (
        tuple(document for number, document in enumerate(job.documents) if (number in held) is kept)
        for kept in (True, False)
    )
    return outside, inside


def _run(job: FineTuning, training: TrainingConfig, model: Model, data: Splits) -> Run:
    """A training whose stages are told apart by the weights that they begin with."""
    weights = hashlib.sha256((find_folder(job.source) / "model.safetensors").read_bytes()).hexdigest()[:16]
    run = Run(
        fabric=new_fabric(job.out, job.seed, device=job.device),
        config=model.config,
        training=training,
        seed=job.seed,
        data_hash=data.hash + weights,
        folder=job.out / "stages",
        precision=usable_precision(job.precision, usable_device(job.device)),
    )
    check_settings(job.out, run.settings(), write=True)
    return run


def _trained(
    run: Run, model: Model, train: Sequence[Document], valid: Sequence[Document], *, refiner: bool
) -> Iterator[Progress]:
    """All stages where the refiner learns too; only the ordering model where it is fixed."""
    network = model.network
    items, held = list(model.preparer.items(train)), list(model.preparer.items(valid))
    fixed = network.refiner
    if fixed is None or fixed.config.encoder == "shared" or refiner:
        yield from train_stages(run, network, items, held)
        return
    # The refiner has not seen these documents, so its weights are as honest on them as on any to come.
    items, held = with_weights(fixed, items, run.seed), with_weights(fixed, held, run.seed)
    yield from _ordering(run, model, items, held)


def _ordering(run: Run, model: Model, items: Sequence[Item], held: Sequence[Item]) -> Iterator[Progress]:
    training = run.training
    stage = OrderingStage(
        "fine-tune",
        model.network,
        items,
        held,
        derived(run.seed, "valid") % 2**31,
        beam=training.validation_beam,
        measure=training.measure,
    )
    recipe = [model.config.write(), asdict(replace(training, minutes=0, classifier_minutes=0))]
    yield from run.stage(stage, recipe, epochs=training.epochs, patience=training.patience, minutes=training.minutes)
