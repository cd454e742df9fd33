"""Test figures of a model for each kind of text, beside what needs no training."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unshuffle.evaluation.baselines import input_order, nearest_chain, predict_baseline, random_order
from unshuffle.evaluation.predict import figures, predict
from unshuffle.evaluation.reliability import reliability_of
from unshuffle.evaluation.results import command_line, commit, plain, versions, write_predictions
from unshuffle.storage.files import write_json
from unshuffle.system.orderer import Orderer
from unshuffle.training.corpus import parsed
from unshuffle_research.model.mixture import Source, held_out
from unshuffle_research.model.recipe import Recipe


def write_domain_figures(
    orderer: Orderer,
    recipe: Recipe,
    data: Path,
    folder: Path,
    *,
    seed: int,
    cache: Path,
    shuffles: int = 3,
    most: int | None = None,
    choosing: bool = False,
) -> Iterator[Path]:
    """One JSON a source with its figures, predictions beside it.

    A source without a test set shows its validation set, and all do where a model is to be chosen by them.
    """
    tests = {} if choosing else held_out(recipe.last.mixture, data, "test", most)
    valids = held_out(recipe.last.mixture, data, "valid", most)
    for source in recipe.last.mixture.sources:
        split = "test" if source.name in tests else "valid"
        documents = parsed((tests if split == "test" else valids)[source.name], recipe.last.system.parser, cache)
        started = time.monotonic()
        predictions = list(predict(orderer, documents, shuffles=shuffles, seed=seed))
        seconds = time.monotonic() - started
        rivals = {"random": random_order(seed), "input": input_order, "nearest chain": nearest_chain(orderer)}
        baselines = {
            name: plain(figures(predict_baseline(rival, documents, seed=seed))) for name, rival in rivals.items()
        }
        path = folder / f"{recipe.name}-{source.name}-{seed}.json"
        write_predictions(path.with_suffix(".orders.jsonl.gz"), predictions)
        write_json(
            path,
            _described(recipe, source, split, seed)
            | {
                "minutes": round(seconds / 60, 2),
                "documents_per_second": round(len(predictions) / seconds, 2),
                "test": plain(figures(predictions)),
                "calibration_error": round(reliability_of(predictions).error, 4),
                "baselines": baselines,
            },
        )
        yield path


def _described(recipe: Recipe, source: Source, split: str, seed: int) -> dict[str, Any]:
    return {
        "system": recipe.name,
        "dataset": source.name,
        "split": split,
        "seed": seed,
        "command": command_line(),
        "commit": commit(),
        "versions": versions(),
    }
