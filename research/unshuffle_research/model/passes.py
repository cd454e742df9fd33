"""A recipe's passes, one after the other: each begins with the weights of the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from unshuffle.machine import Precision
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle.training.corpus import Splits
from unshuffle.training.loop import Progress
from unshuffle.training.run import TrainingJob, train_system
from unshuffle_research.model.mixture import held_out, training_documents
from unshuffle_research.model.recipe import Pass, Recipe


def train_recipe(
    recipe: Recipe,
    data: Path,
    out: Path,
    *,
    seed: int = 1,
    start: str = "",
    resume: bool = False,
    cache: Path | None = None,
    parser: str | None = None,
    device: str = "cpu",
    precision: Precision | Literal["auto"] = "32",
    report: Callable[[Progress], None] = lambda progress: None,
) -> Orderer:
    """Trains every pass and gives the last one's model; those before it lie in folders within `out`."""
    for number, (each, texts) in enumerate(zip(recipe.passes, texts_of(recipe, data, seed), strict=True), start=1):
        last = number == len(recipe.passes)
        folder = out if last else out / f"pass-{number}"
        job = TrainingJob(
            name=recipe.name,
            config=each.system,
            training=each.training,
            data=Splits(texts, _valid(each, data), ()),
            out=folder,
            seed=seed + number - 1,
            resume=resume,
            cache=cache or out / "parses",
            parser=parser,
            start=start,
            device=device,
            precision=precision,
        )
        orderer = train_system(job, report)
        start = str(folder)
    return orderer


def texts_of(recipe: Recipe, data: Path, seed: int) -> Iterator[tuple[Document, ...]]:
    """The training documents of each pass: other draws in each of them."""
    for number, each in enumerate(recipe.passes):
        yield training_documents(each.mixture, data, seed + number)


def _valid(each: Pass, data: Path) -> tuple[Document, ...]:
    found = held_out(each.mixture, data, "valid", each.mixture.valid_documents)
    return tuple(document for documents in found.values() for document in documents)
