"""What fewer bits cost and gain: tau on each kind's validation texts beside 32 bits, and documents per second."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from unshuffle.evaluation.precision import LOST, change
from unshuffle.evaluation.predict import Prediction, figures, predict
from unshuffle.system.loading import Precision, RuntimeName
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle_research.benchmarks.documents import nips_like
from unshuffle_research.benchmarks.machine import one_thread
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target
from unshuffle_research.model.mixture import held_out
from unshuffle_research.model.recipe import load_recipe

MOST = 300
"""Documents of each kind."""
WAYS: dict[str, tuple[RuntimeName, Precision]] = {
    "light, 32": ("light", "32"),
    "light, int8": ("light", "int8"),
    "torch, 32": ("torch", "32"),
    "torch, bf16": ("torch", "bf16"),
}
RIVALS = {"light, int8": "light, 32", "torch, bf16": "torch, 32"}


def run(settings: Settings) -> Report:
    """The same shuffled documents all four ways; `--data` names the folder of the recipe's texts."""
    one_thread()
    kinds: dict[str, Sequence[Document]] = {"made up": nips_like(4)}
    if settings.data:
        most = 2 if settings.quick else MOST
        kinds = dict(held_out(load_recipe("default").last.mixture, Path(settings.data), "valid", most))
    elif not settings.quick:
        return Report("precision", (), {"skipped": "give --data (folder of the default recipe's texts)"})
    found: dict[str, dict[str, list[Prediction]]] = {}
    pace: dict[str, float] = {}
    for way, (runtime, precision) in WAYS.items():
        orderer = Orderer.from_pretrained("default", runtime=runtime, precision=precision, threads=1)
        start = time.process_time()
        found[way] = {kind: list(predict(orderer, documents, shuffles=1)) for kind, documents in kinds.items()}
        pace[way] = sum(map(len, kinds.values())) / (time.process_time() - start)
    compared = {
        way: {kind: change(found[way][kind], found[exact][kind]) for kind in kinds} for way, exact in RIVALS.items()
    }
    targets = tuple(
        Target(
            name=f"tau that {way} loses on the kind it loses most on",
            ratio=max(0.0, *(-each.tau for each in changes.values())),
            limit=LOST,
            at_most=True,
        )
        for way, changes in compared.items()
    )
    return Report(
        "precision",
        targets,
        {
            "documents per CPU second": pace,
            "tau in 32 bits": {kind: figures(found["light, 32"][kind]).mean.tau for kind in kinds},
            **{
                f"change of {way}": {kind: asdict(each) for kind, each in changes.items()}
                for way, changes in compared.items()
            },
        },
    )
