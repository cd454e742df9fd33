"""What the classifiers say on linked pairs, before and after refinement, kept document by document."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unshuffle.evaluation.predict import shuffled
from unshuffle.graph.batch import collate
from unshuffle.metrics.bootstrap import Band, bootstrap_band
from unshuffle.seeds import derived
from unshuffle.storage.files import write_whole
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle_research.experiments.kept import PAIRS
from unshuffle_research.experiments.measure import Measured
from unshuffle_research.experiments.models import Models, Trained

BATCH = 32


@dataclass(frozen=True)
class PairRow:
    """The linked pairs of one document: chances that the first by input comes first, and whether it does."""

    id: str
    initial: tuple[float, ...] | None
    """None where there is no initial classifier."""
    final: tuple[float, ...]
    truth: tuple[bool, ...]
    decided: tuple[float, ...]
    """Share of pairs settled after the initial classifier and after each round."""

    def right(self, which: str) -> float:
        """How many pairs are put right; a tie is half right."""
        given, truth = np.array(getattr(self, which)), np.array(self.truth)
        return float(np.where(given == 0.5, 0.5, (given > 0.5) == truth).sum())


@torch.inference_mode()
def observed(orderer: Orderer, documents: Sequence[Document], seed: int) -> Iterator[PairRow]:
    """Asks the classifiers on shuffled documents; both directions of a pair are scored and normalised."""
    network = orderer.model.network
    refiner = network.refiner
    assert refiner is not None
    drawn = list(shuffled(documents, 0, seed))
    items = [orderer.model.preparer.item(document) for document, _ in drawn]
    linked = [number for number, item in enumerate(items) if item.graph.pairs.size]
    for start in range(0, len(linked), BATCH):
        numbers = linked[start : start + BATCH]
        batch = collate([items[number] for number in numbers])
        encoded = network.sentence_encoder(batch)
        refined = refiner(batch, encoded)
        initial = None if refiner.initial is None else refiner.first_answer(batch, encoded)
        cuts = np.cumsum([items[number].graph.pairs.shape[1] for number in numbers])[:-1].tolist()
        parts = {
            "initial": _parts(initial, cuts),
            "final": _parts(refined.predicted, cuts),
            "decided": [_parts((~trace.undecided).float(), cuts) for trace in refined.rounds],
        }
        for index, number in enumerate(numbers):
            first, second = items[number].graph.pairs
            at = np.asarray(drawn[number][1])
            yield PairRow(
                id=documents[number].id,
                initial=None if initial is None else _rounded(parts["initial"][index]),
                final=_rounded(parts["final"][index]),
                truth=tuple((at[first] < at[second]).tolist()),
                decided=tuple(round(float(trace[index].mean()), 4) for trace in parts["decided"]),
            )


def _parts(values: torch.Tensor | None, cuts: list[int]) -> Any:
    return np.split(values.double().numpy(), cuts) if values is not None else None


def _rounded(values: Any) -> tuple[float, ...]:
    return tuple(round(float(value), 6) for value in values)


def pair_rows(models: Models, trained: Trained, *, resume: bool = True) -> list[PairRow]:
    """The pairs of the test documents, or those that lie beside the model or its results; none where there are none."""
    if trained.kept:
        return list(read_pairs(trained.kept.pairs)) if trained.kept.pairs.is_file() else []
    file = trained.folder / f"test{PAIRS}"
    if not (resume and file.is_file()):
        documents = models.parsed(trained.plan.dataset, "test", trained.plan.config.parser)
        write_pairs(file, list(observed(trained.orderer, documents, trained.plan.seed)))
    return list(read_pairs(file))


def ordered_rows(models: Models, found: Measured) -> list[PairRow]:
    """The same pairs as the orders of the first shuffle have them, each as sure as an order is."""
    trained = found.trained
    documents = models.parsed(trained.plan.dataset, "test", trained.plan.config.parser)
    rows = []
    for document, prediction in zip(documents, found.predictions, strict=False):
        first, second = trained.orderer.model.preparer.item(document).graph.pairs  # here in the true order
        position = np.argsort(prediction.order)
        if first.size:
            said, truth = position[first] < position[second], first < second
            rows.append(PairRow(document.id, None, tuple(said.astype(float).tolist()), tuple(truth.tolist()), ()))
    return rows


def write_pairs(path: Path, rows: Sequence[PairRow]) -> None:
    """One line per document; no text."""

    def write(temporary: Path) -> None:
        with gzip.GzipFile(temporary, "wb", mtime=0) as out:
            for row in rows:
                out.write((json.dumps(asdict(row)) + "\n").encode())

    write_whole(path, write)


def read_pairs(path: Path) -> Iterator[PairRow]:
    """The reverse of `write_pairs`."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            initial = None if row["initial"] is None else tuple(row["initial"])
            yield PairRow(row["id"], initial, tuple(row["final"]), tuple(row["truth"]), tuple(row["decided"]))


def joined(rows: Sequence[PairRow], which: str) -> NDArray[np.float64]:
    """One field of all documents, end to end."""
    return np.array([value for row in rows for value in getattr(row, which)], np.float64)


def pair_sizes(rows: Sequence[PairRow]) -> NDArray[np.float64]:
    """Linked pairs of each document."""
    return np.array([len(row.truth) for row in rows], np.float64)


def share_right(seeds: Sequence[Sequence[PairRow]], which: str) -> NDArray[np.float64]:
    """Share of a document's pairs that are put right, in percent, the mean of its seeds."""
    right = np.mean([[row.right(which) for row in rows] for rows in seeds], 0)
    found: NDArray[np.float64] = 100 * right / pair_sizes(seeds[0])
    return found


def pair_accuracy(seeds: Sequence[Sequence[PairRow]], which: str) -> Band:
    """Share of pairs put right, in percent; whole documents are drawn for its band, with all their seeds."""
    generator = np.random.default_rng(derived(1, "pairs"))
    return bootstrap_band(share_right(seeds, which), generator, weights=pair_sizes(seeds[0]), draws=2000)


def decided_by_round(rows: Sequence[PairRow]) -> list[float]:
    """Mean share of settled pairs after each round, in percent; documents that are done stay as they are."""
    longest = max((len(row.decided) for row in rows), default=0)
    return [
        float(np.mean([100 * row.decided[min(step, len(row.decided) - 1)] for row in rows])) for step in range(longest)
    ]
