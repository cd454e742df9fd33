"""The figures of a finished training on its validation and test documents."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from unshuffle.evaluation.predict import Prediction, figures, predict, shuffled
from unshuffle.evaluation.results import Result, command_line, plain
from unshuffle.machine import device_of
from unshuffle.metrics.pairs import pairwise_accuracy
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.training.corpus import parsed
from unshuffle.training.run import TrainingJob


def tested(orderer: Orderer, job: TrainingJob, *, shuffles: int, beam: int) -> list[Prediction]:
    """The orders of the test documents."""
    test = parsed(job.data.test, job.config.parser, job.cache or job.out / "parses")
    return list(predict(orderer, test, shuffles=shuffles, seed=job.seed, beam=beam))


def evaluated(
    orderer: Orderer, job: TrainingJob, dataset: str, folder: Path, *, minutes: float, shuffles: int, beam: int
) -> Path:
    """Orders valid and test, and writes figures and predictions."""
    cache = job.cache or job.out / "parses"
    valid = parsed(job.data.valid, job.config.parser, cache)
    test = parsed(job.data.test, job.config.parser, cache)
    on_valid = figures(predict(orderer, valid, shuffles=shuffles, seed=job.seed, beam=beam))
    started = time.monotonic()
    predictions = list(predict(orderer, test, shuffles=shuffles, seed=job.seed, beam=beam))
    seconds = time.monotonic() - started
    notes: dict[str, Any] = {"beam": beam, "test_documents_per_second": round(len(predictions) / seconds, 2)}
    if orderer.model.network.refiner is not None:
        notes["pairs"] = refinement_figures(orderer, test, job.seed)
    result = Result(
        system=job.name,
        dataset=dataset,
        seed=job.seed,
        command=command_line(),
        config={"system": job.config.write(), "training": asdict(job.training)},
        data_hash=job.data.hash,
        minutes=round(minutes, 2),
        parameters=sum(parameter.numel() for parameter in orderer.model.network.parameters()),
        valid=plain(on_valid),
        test=plain(figures(predictions)),
        notes=notes,
    )
    return result.write(folder, predictions)


def refinement_figures(orderer: Orderer, documents: tuple[Document, ...], seed: int) -> dict[str, Any]:
    """Pair accuracy of the initial classifier alone and after all rounds, both measured the same way (Table 2).

    One decision per linked pair, oriented by the shuffled input; a weight of 0.5 counts half.
    """
    from unshuffle.graph.batch import collate

    network = orderer.model.network
    refiner = network.refiner
    assert refiner is not None
    initial: list[float] = []
    final: list[float] = []
    truth: list[bool] = []
    decided: list[list[float]] = []
    import torch

    with torch.inference_mode():
        for document, permutation in shuffled(documents, 0, seed):
            item = orderer.model.preparer.item(document)
            if not item.graph.pairs.size:
                continue
            batch = collate([item]).to(device_of(network))
            encoded = network.sentence_encoder(batch)
            refined = refiner(batch, encoded)
            if refiner.initial is not None:
                initial += refiner.first_answer(batch, encoded).tolist()
            final += refined.predicted.tolist()
            position = np.asarray(permutation)
            truth += (position[item.graph.pairs[0]] < position[item.graph.pairs[1]]).tolist()
            decided.append([float((~trace.undecided).float().mean()) for trace in refined.rounds])
    longest = max(map(len, decided), default=0)
    share = [float(np.mean([row[min(step, len(row) - 1)] for row in decided])) for step in range(longest)]
    found: dict[str, Any] = {"pairs": len(truth), "decided_by_round": [round(100 * value, 2) for value in share]}
    if initial:
        found["initial_accuracy"] = round(100 * pairwise_accuracy(initial, truth), 3)
    found["final_accuracy"] = round(100 * pairwise_accuracy(final, truth), 3)
    return found
